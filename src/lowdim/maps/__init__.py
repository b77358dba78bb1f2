"""The maps for new points that fitted estimators keep."""
