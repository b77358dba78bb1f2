"""Ways to choose L of N points, one file each."""
