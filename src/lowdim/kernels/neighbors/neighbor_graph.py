"""A graph of near neighbours made better by itself: the neighbours of a point's neighbours are likely its own.

This is the idea of nearest-neighbour descent (Dong, Moses & Li 2011), pulled instead of pushed: every point reads the
graph of the round before and writes its own row alone, so that rows can be treated in any order and on any thread.

Row i of ``links`` holds the neighbours of point i, -1 where there are fewer; those that came in the last round carry
the mark ``FRESH``. Two links that are both old have met before. ``scores`` are squared distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ..compiling import njit
from .forest import dot, middle_of, squared_distance
from .sorted_lists import FRESH, NAME, Keys, is_on, key_of, merge_keys, sort_keys, write_key

TABLE = 4096
Single = NDArray[np.float32]
Places = NDArray[np.int32]
Seen = NDArray[np.int64]
Source = tuple[NDArray[Any], Places, NDArray[np.float64], NDArray[np.float64], float]


@njit(cache=True, nogil=True)
def is_new(table: Seen, row: int, point: Any) -> bool:
    """Whether this row has not asked for the point before; now and then the table forgets, and says so again."""
    key = (np.int64(row) << 32) | np.int64(point)
    slot = np.uint64(np.int64(point) * np.int64(0x9E3779B1) >> np.int64(8)) & np.uint64(TABLE - 1)
    answer = table[slot] != key
    table[slot] = key
    return answer


@njit(cache=True, nogil=True)
def is_among(point: Any, links: Places) -> bool:
    """Whether a point is among some links, marked or not."""
    found = False
    for a in range(links.size):
        found |= links[a] >= 0 and links[a] & NAME == point
    return found


@njit(cache=True, nogil=True)
def measure(points: Single, lists: Keys, start: int, stop: int, scores: Single, links: Places) -> None:
    """Squared distances by differences in the place of those by products, which cancel where points are close.

    Marks all links: none has been looked at.
    """
    for row in range(start, stop):
        for a in range(lists.shape[1]):
            write_key(lists[row, a], a, scores[row], links[row])
            point = links[row, a]
            if point >= 0:
                scores[row, a] = squared_distance(points[row], points[point])
                links[row, a] = point | FRESH


@njit(cache=True, nogil=True)
def reverse(links: Places, width: int, counts: Places, out: Places) -> None:
    """Points that link to each point by one of their first ``width`` links, as many as fit."""
    for row in range(links.shape[0]):
        counts[row] = 0
    for row in range(links.shape[0]):
        for a in range(width):
            link = links[row, a]
            if link >= 0:
                point = link & NAME
                if counts[point] < out.shape[1]:
                    out[point, counts[point]] = row | (link & FRESH)
                    counts[point] += 1


@njit(cache=True, nogil=True)
def gather(links: Places, width: int, row: int, via: Any, table: Seen, found: Places, count: int) -> int:
    """Append the unseen neighbours of the point at the end of a link; returns the number found so far."""
    other = links[via & NAME]
    if via & FRESH:
        for b in range(width):
            link = other[b]
            if link >= 0:
                found[count] = link & NAME
                count += is_new(table, row, link & NAME)
    else:
        for b in range(width):
            link = other[b]
            if link >= 0 and link & FRESH:
                found[count] = link & NAME
                count += is_new(table, row, link & NAME)
    return count


@njit(cache=True, nogil=True)
def pull(
    points: Single,
    links: Places,
    back: Places,
    counts: Places,
    width: int,
    start: int,
    stop: int,
    scores: Single,
    out: Places,
) -> None:
    """Offer to some points the neighbours of their neighbours, of those on either end of a link.

    Rows of ``links`` and ``scores`` come and leave sorted, ``links`` leave as ``out``.
    """
    n_links = links.shape[1]
    table = np.full(TABLE, -1, np.int64)
    found = np.empty((width + back.shape[1]) * (width + 1), np.int32)
    keys, own = np.empty(found.size, np.uint64), np.empty(n_links, np.uint64)
    spare = np.empty(max(found.size, n_links), np.uint64)
    for row in range(start, stop):
        near, names = scores[row], out[row]
        is_new(table, row, row)
        for a in range(n_links):
            link = links[row, a]
            names[a] = link if link < 0 else link & NAME
            if link >= 0:
                is_new(table, row, link & NAME)
        count = 0
        for a in range(width):
            if links[row, a] >= 0:
                count = gather(links, width, row, links[row, a], table, found, count)
        for a in range(counts[row]):
            via = back[row, a]
            if via & FRESH:
                found[count] = via & NAME
                count += is_new(table, row, via & NAME)
            count = gather(links, width, row, via, table, found, count)
        size = 0
        for a in range(count):
            score = squared_distance(points[row], points[found[a]])
            if score < near[-1] and not is_among(found[a], names):
                # What the table has forgotten may come twice.
                key = key_of(score, found[a] | FRESH)
                keys[size] = key
                size += not is_on(key, keys, size)
        if size:
            for a in range(n_links):
                own[a] = key_of(near[a], names[a])
            sort_keys(keys, spare, size)
            merge_keys(keys, size, own, spare)
            for a in range(n_links):
                write_key(own[a], a, near, names)


@njit(cache=True, nogil=True)
def offer(score: Any, point: Any, scores: Single, names: Places, size: int) -> int:
    """Insert a point into a list that is sorted by score and full at its length; returns the number in the list.

    Points of the list that were followed carry the mark ``FRESH``.
    """
    if is_among(point, names[:size]):
        return size
    hole = min(size, scores.size - 1)
    while hole > 0 and scores[hole - 1] > score:
        scores[hole] = scores[hole - 1]
        names[hole] = names[hole - 1]
        hole -= 1
    scores[hole] = score
    names[hole] = point
    return min(size + 1, scores.size)


@njit(cache=True, nogil=True, forceinline=True)
def leaf_of(query: Single, seed: Any, normals: Single, thresholds: Single) -> int:
    """The leaf of a tree to which a new point belongs."""
    first, last = 0, thresholds.size
    while last - first > 1:
        middle = middle_of(seed, first, last)
        if dot(query, normals[middle]) >= thresholds[middle]:
            first = middle
        else:
            last = middle
    return first


@njit(cache=True, nogil=True, forceinline=True)
def place_row(source: Source, point: Any, out: Any) -> None:
    """A point, by its place in the tree, in the coordinates of the search; the rest of ``out`` is left alone.

    ``source`` is the points as they came, the order of the tree, the terms of each as in ``distances``, the centre, and
    1 / unit. No sum is reordered or fused: whoever makes a point makes the same one.
    """
    values, order, terms, centre, shrink = source
    row = order[point]
    shift, scale, last = terms[row, 0], terms[row, 1], values.shape[1]
    for c in range(last):
        out[c] = ((np.float64(values[row, c]) - shift) * scale - centre[c]) * shrink
    out[last] = (terms[row, 2] - centre[last]) * shrink


@njit(cache=True, nogil=True)
def place_rows(source: Source, start: int, stop: int, points: Single) -> None:
    """``place_row`` for some of the points, into their rows."""
    for point in range(start, stop):
        place_row(source, point, points[point])


@njit(cache=True, nogil=True, forceinline=True)
def point_at(points: Single, source: Source, point: Any, spare: Single) -> Single:
    """A point of those that are held in order, or, where none is, made of its source."""
    if points.shape[0] > 0:
        return points[point]
    place_row(source, point, spare)
    return spare


@njit(cache=True, nogil=True, forceinline=True)
def follow(
    query: Single,
    points: Single,
    source: Source,
    spare: Single,
    links: Places,
    row: int,
    table: Seen,
    scores: Single,
    names: Places,
    size: int,
) -> int:
    """Follow the links of the nearest point of the list that was not followed yet, until there is none."""
    place = 0
    while place < size:
        if names[place] & FRESH:
            place += 1
            continue
        others = links[names[place]]
        names[place] |= FRESH
        place += 1
        for a in range(others.size):
            point = others[a]
            if point >= 0 and is_new(table, row, point):
                score = squared_distance(query, point_at(points, source, point, spare))
                if size < scores.size or score < scores[size - 1]:
                    size = offer(score, point, scores, names, size)
                    place = 0
    return size


@njit(cache=True, nogil=True)
def search(
    queries: Single,
    points: Single,
    source: Source,
    links: Places,
    bounds: Integers,
    seed: Any,
    normals: Single,
    thresholds: Single,
    length: int,
    out: Places,
) -> None:
    """The nearest points of new ones: those in the same leaf of a tree, then along links.

    The points are in the order of the tree; where there are none they are made of their ``source`` as they are met.
    ``length`` is that of the list of the nearest so far; the search ends when all in it were followed.
    """
    spare = np.zeros(queries.shape[1], np.float32)
    scores, names = np.empty(length, np.float32), np.empty(length, np.int32)
    table = np.full(TABLE, -1, np.int64)
    for row in range(queries.shape[0]):
        leaf = leaf_of(queries[row], seed, normals, thresholds)
        size = 0
        for point in range(bounds[leaf], bounds[leaf + 1]):
            score = squared_distance(queries[row], point_at(points, source, point, spare))
            if size < length or score < scores[size - 1]:
                is_new(table, row, point)
                size = offer(score, point, scores, names, size)
        size = follow(queries[row], points, source, spare, links, row, table, scores, names, size)
        for a in range(out.shape[1]):
            out[row, a] = names[a] & NAME if a < size else -1
