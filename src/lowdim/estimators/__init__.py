"""The scikit-learn classes: each chooses the parts, calls them in order and reports."""
