"""Neighbour embeddings, one file each: what each sets, and its terms of the objective."""
