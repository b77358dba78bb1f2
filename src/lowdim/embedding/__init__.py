"""Neighbour embeddings: objectives E = E+ + lambda E-, and the engines that sum their repulsion."""
