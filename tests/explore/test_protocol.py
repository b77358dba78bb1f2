"""Messages that are no messages, frames that are dropped, and what a frame holds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lowdim.explore.protocol import CREDIT, HEADER, MOST_WAITING, Block, Frame, Outbox, ProtocolError, parse

GOOD = {"kind": "set", "generation": 3, "method": "tsne", "parameters": {"perplexity": 10}}


def test_a_message_is_read():
    assert parse(json.dumps(GOOD)) == GOOD
    assert parse('{"kind": "pause"}') == {"kind": "pause"}


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        "",
        "nothing",
        "[]",
        "{}",
        '{"kind": "eval", "code": "1"}',
        '{"kind": 3}',
        '{"kind": "set"}',
        json.dumps(GOOD | {"path": "/etc/passwd"}),
        json.dumps(GOOD | {"generation": -1}),
        json.dumps(GOOD | {"generation": 2**40}),
        json.dumps(GOOD | {"generation": True}),
        json.dumps(GOOD | {"generation": "3"}),
        json.dumps(GOOD | {"parameters": []}),
        '{"kind": "distances", "row": NaN}',
        '{"kind": "column", "name": "' + "x" * 70_000 + '"}',
        '{"kind": "column", "name": ' + "[" * 60_000,
    ],
    ids=range(17),
)
def test_what_is_no_message_is_refused(text):
    with pytest.raises(ProtocolError):
        parse(text)


def points(count=5, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 2)) * 7 + 3


def test_a_frame_holds_its_points_to_sixteen_bits():
    given = points(1000)
    packed = Frame(given, 4, 17, pane=1).packed(9)
    kind, pane, _, generation, sequence, count, x, y, half, iteration = HEADER.unpack(packed[: HEADER.size])
    assert (kind, pane, generation, sequence, count, iteration) == (1, 1, 4, 9, 1000, 17)
    steps = np.frombuffer(packed[HEADER.size :], "<i2").reshape(-1, 2)
    np.testing.assert_allclose(steps * (half / 32767) + [x, y], given, atol=half / 32767)
    assert np.abs(steps).max() == 32767
    assert HEADER.size == 32


def test_points_in_one_place_make_a_frame():
    packed = Frame(np.ones((3, 2)), 0).packed(1)
    assert not np.frombuffer(packed[HEADER.size :], "<i2").any()


def sequence_of(packed):
    return HEADER.unpack(packed[: HEADER.size])[4]


def test_two_frames_are_under_way_and_the_newest_follows():
    box = Outbox()
    box.open()
    for iteration in range(10):
        box.show(Frame(points(), 1, iteration))
        if iteration < CREDIT:
            assert box.next(0) is not None
    assert box.next(0) is None  # no credit
    assert box.dropped == 10 - CREDIT - 1
    box.acknowledge(1)
    last = box.next(0)
    assert HEADER.unpack(last[: HEADER.size])[9] == 9
    assert box.next(0) is None


def test_messages_pass_frames_that_wait_and_keep_their_order():
    box = Outbox()
    box.open()
    for _ in range(3):
        box.show(Frame(points(), 1))
        box.next(0)
    box.show(Frame(points(), 1))
    box.say("done", generation=1)
    box.put(Block.of_values(np.arange(3.0), 0))
    box.note("badge", text="old")
    box.note("badge", text="new")
    assert json.loads(box.next(0))["kind"] == "done"
    assert len(box.next(0)) == HEADER.size + 24
    assert json.loads(box.next(0))["text"] == "new"
    assert box.next(0) is None


def test_a_reader_that_never_reads_is_given_up_and_costs_no_memory():
    box = Outbox()
    box.open()
    for number in range(3 * MOST_WAITING):
        box.say("warned", message=str(number))
    assert box.next(0) is None
    box.say("warned", message="late")
    assert box.next(0) is None
    box.open()
    box.say("warned", message="again")
    assert json.loads(box.next(0))["message"] == "again"


def test_nobody_hears_what_is_said_before_a_page_comes():
    box = Outbox()
    box.say("warned", message="to nobody")
    box.show(Frame(points(), 1))
    box.open()
    assert box.next(0) is None
