"""How estimators go over rows in shards."""
