"""Experiments of the papers that lowdim stands on, each with its figure, its table and an honest verdict."""
