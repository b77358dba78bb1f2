"""Checks of an installation, for ``lowdim doctor``: each looks at one thing, says how it is and what to do about it."""
