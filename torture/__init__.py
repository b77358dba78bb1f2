"""Harnesses that try to make lowdim break a promise; `make torture` runs them, their quick forms are tests."""
