"""One file for each method: what its A, B and trivial solutions are."""
