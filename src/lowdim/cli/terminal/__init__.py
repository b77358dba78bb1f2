"""Standard streams and the person who watches them: what is said, progress, signals."""
