"""Spectral methods: what a person sets, and the driver that all of them share."""
