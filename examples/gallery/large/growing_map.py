"""
A map that grows
================

New rows are taken in; old points move as little as they can.
"""

import lowdim

digits = lowdim.datasets.load("digits")
before = lowdim.TSNE().fit(digits.data[:500])
after = before.update(digits.data[500:700])

lowdim.plot(after.embedding_, digits.labels[:700], path="growing_map.png")
lowdim.plot(after.embedding_, digits.labels[:700], title="500 and 200 more", path="growing_map.html")
