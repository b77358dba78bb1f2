"""Harnesses that try to break what lowdim promises: ``python -m torture`` runs them all, ``make torture`` too."""
