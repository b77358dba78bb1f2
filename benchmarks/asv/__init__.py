"""Benchmarks of asv: each method on small data, so that a slow-down is seen from one commit to the next.

``asv continuous main HEAD`` compares two commits, ``asv run`` and ``asv publish`` draw the history. The figures of the
documentation, on data of real size and beside other libraries, are those of ``make bench``.
"""
