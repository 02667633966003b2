"""Data frames out of R's .rda files, as far as data sets need it.

The format is R's own serialisation in its "XDR" form: each object opens with a word that holds its
type and says whether attributes and a tag follow (R Internals, chapter 1.8).
"""

import gzip
import lzma
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SYMBOL, PAIRS, CHARACTERS, LOGICAL, INTEGER, REAL, STRING, LIST = 1, 2, 9, 10, 13, 14, 16, 19
NIL, REFERENCE = 254, 255
HAS_ATTRIBUTES, HAS_TAG = 1 << 9, 1 << 10
MISSING = -(2**31)  # R's NA among integers


class Vector:
    """Values with their attributes."""

    def __init__(self, values: Any, attributes: dict[str, Any]) -> None:
        self.values = values
        self.attributes = attributes


class Reader:
    """Reads one object after the other from the bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0
        self.symbols: list[str] = []  # what references point to

    def words(self, dtype: str, count: int) -> np.ndarray:
        found = np.frombuffer(self.content, dtype, count, self.position)
        self.position += found.nbytes
        return found

    def integer(self) -> int:
        (value,) = struct.unpack_from(">i", self.content, self.position)
        self.position += 4
        return value

    def item(self) -> Any:
        flags = self.integer()
        kind = flags & 0xFF
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self.symbols[(flags >> 8) - 1]
        if kind == SYMBOL:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == PAIRS:
            return self.pairs(flags)
        if kind == CHARACTERS:
            length = self.integer()
            return None if length < 0 else self.words("S1", length).tobytes().decode()
        return self.vector(kind, flags)

    def pairs(self, flags: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while flags & 0xFF == PAIRS:
            if flags & HAS_ATTRIBUTES:
                self.item()
            tag = self.item() if flags & HAS_TAG else ""
            found[tag] = self.item()
            flags = self.integer()
        return found

    def vector(self, kind: int, flags: int) -> Vector:
        length = self.integer()
        if kind in (INTEGER, LOGICAL):
            values: Any = self.words(">i4", length).astype(np.int64)
        elif kind == REAL:
            values = self.words(">f8", length).astype(np.float64)
        elif kind in (STRING, LIST):
            values = [self.item() for _ in range(length)]
        else:
            raise ValueError(f"R type {kind} at byte {self.position} is not one of data frames")
        return Vector(values, self.item() if flags & HAS_ATTRIBUTES else {})


def column(vector: Vector) -> Any:
    """Return floats, strings, or categories for a factor."""
    levels = vector.attributes.get("levels")
    if levels is not None:
        return pd.Categorical.from_codes(np.maximum(vector.values, 0) - 1, levels.values)
    if isinstance(vector.values, list):
        return vector.values
    values = vector.values.astype(np.float64)
    return np.where(values == MISSING, np.nan, values)


def read_frame(path: Path) -> pd.DataFrame:
    """Return the one data frame of the file."""
    content = path.read_bytes()
    content = (lzma if content.startswith(b"\xfd7zXZ") else gzip).decompress(content)
    if not content.startswith((b"RDX2\nX\n", b"RDX3\nX\n")):
        raise ValueError(f"{path} is not an XDR file of R's format 2 or 3")
    reader = Reader(content)
    reader.position = len("RDX2\nX\n")
    version = reader.integer()
    reader.position += 2 * 4  # which R wrote it, which can read it
    if version == 3:
        reader.position += reader.integer()  # the name of an encoding
    (frame,) = reader.item().values()
    names = frame.attributes["names"].values
    return pd.DataFrame(dict(zip(names, map(column, frame.values), strict=True)))
