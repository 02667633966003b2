"""Tests; a package, so that they share what they compare with."""
