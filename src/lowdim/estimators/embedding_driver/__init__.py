"""What all neighbour embeddings share: their parameters, the driver, growth and aligned series."""
