"""Published tables, computed again by the protocols of their papers."""
