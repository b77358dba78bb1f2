"""Parameters that are left open: ``"auto"`` is chosen from the data before the fit, by a stated criterion.

A choice goes before the fit and is no part of it: the fit is that of the chosen value, to the last bit. See
docs/choosing.md.
"""
