"""Linear methods: principal components by four solvers, and oriented principal components.

Every solver walks over row blocks of ``data.rows.Rows`` and ends in the same frozen ``LinearFit``; ``choose`` picks
one by its cost and says why.
"""

from __future__ import annotations
