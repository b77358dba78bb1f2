"""What is kept on disk, below the models: the container of named arrays, values as text, checkpoints, locks."""
