"""One module for each stage of the engine; each has `run() -> list[Row]`."""
