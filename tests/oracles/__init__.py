"""Slow and obvious implementations that the engine must equal."""
