"""Gradient boosting beside the other libraries: what is learned, by whom, and how it is timed."""
