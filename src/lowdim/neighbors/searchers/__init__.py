"""Ways of finding candidates, one file each."""
