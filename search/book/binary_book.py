"""Opening books in YaneuraOu's binary format (`.ybb`), searched on disk by bisection.

    header   magic "YANE-BINBOOK-V1\\0" (16 bytes), number of positions (u8), flags (u8); 32 bytes
    index    a record per position, sorted by key: key (32 bytes, YaneuraOu's PackedSfen), offset of its moves (u8),
             move number (u2, 0 fits every number), number of moves (u2); 44 bytes
    moves    move (u2, YaneuraOu's Move16), value (i2, centipawns of the side to move) and, if bit 0 of the flags is
             set, depth (u2); 4 or 6 bytes

u2, i2 and u8 are little-endian integers of 2 and 8 bytes; offsets count from the start of the moves. Replies and counts
of games are not stored. (YaneuraOu-ScriptCollection, BookMinerCpp/docs/04-ybb.md; YaneuraOu, source/book/book.cpp)
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from search.book.book_move import Book, BookMove, Say
from search.rules.huffman import CODE_BYTES, PSV, encode
from search.rules.sfen import position_from_sfen, square_from_usi, square_to_usi
from search.rules.shogi import SQUARES, START_SFEN

MAGIC = b"YANE-BINBOOK-V1\0"
HEADER = struct.Struct("<16sQQ")
HAS_DEPTH = 1
"""Flag of a book whose moves have depths."""
ANY_PLY = 0
"""Move number of a position that a text book holds without one."""
INDEX_RECORD = np.dtype([("key", "V32"), ("offset", "<u8"), ("ply", "<u2"), ("count", "<u2")])
MOVE_RECORDS = {
    0: np.dtype([("move", "<u2"), ("value", "<i2")]),
    HAS_DEPTH: np.dtype([("move", "<u2"), ("value", "<i2"), ("depth", "<u2")]),
}
CHECK_WHOLE = 1 << 18
"""Largest number of positions of a book whose whole index is checked when it is opened."""
SAMPLES = 64
"""Number of records of a larger index that are checked."""

_PIECES = "PLNSBRG"
"""Pieces that are dropped, by YaneuraOu's numbers from 1."""
_DROP, _PROMOTE = 1 << 14, 1 << 15


@dataclass(frozen=True)
class _Header:
    """Layout of a binary book."""

    positions: int
    flags: int
    size: int
    """Bytes of the file."""

    @property
    def moves_at(self) -> int:
        """Byte at which the moves begin."""
        return HEADER.size + self.positions * INDEX_RECORD.itemsize

    @property
    def record(self) -> np.dtype:
        """The type of a move's record."""
        return MOVE_RECORDS[self.flags]

    def beyond(self, index: np.ndarray) -> np.ndarray:
        """Whether the moves of index records (`INDEX_RECORD`) lie beyond the end of the file, bool."""
        room = np.uint64(self.size - self.moves_at)
        needed = index["count"].astype(np.uint64) * np.uint64(self.record.itemsize)
        return (index["offset"] > room) | (needed > room - np.minimum(index["offset"], room))


class BinaryBook(Book):
    """A book in YaneuraOu's binary format."""

    def __init__(self, path: Path, say: Say) -> None:
        """Open a book; `say` is called with a message about positions whose moves cannot be read.

        Raises OSError, or ValueError in one line that names the file and the fault.
        """
        self.path = path
        self._say = say
        with open(path, "rb") as file:
            self._header = self._read_header(file)
            self._check_index(file)
        _key_of(START_SFEN)  # compiles at a first start

    def find(self, sfen: str, ignore_ply: bool = True) -> list[BookMove]:
        """Return the moves of a position in the file's order; [] if the book does not have it.

        `ignore_ply` says whether the move number may differ. Raises OSError, or ValueError for a file that changed
        since it was opened.
        """
        try:
            key = _key_of(sfen)
        except ValueError:  # no key, for example without a king
            return []
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size != self._header.size:
                raise ValueError(f"{self.path}: was changed since it was opened; set BookFile again")
            low, high, record = 0, self._header.positions, None
            while low < high:
                middle = (low + high) // 2
                read = self._read_index(file, middle, 1)
                if read["key"][0].tobytes() < key:
                    low = middle + 1
                else:
                    high, record = middle, read
            words = sfen.split()
            # One position may have several records, with different move numbers.
            while record is not None and record["key"][0].tobytes() == key:
                if ignore_ply or len(words) < 4 or int(record["ply"][0]) in (ANY_PLY, int(words[3])):
                    return self._read_moves(file, record, low)
                low += 1
                record = self._read_index(file, low, 1) if low < self._header.positions else None
        return []

    def _read_header(self, file: BinaryIO) -> _Header:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEADER.size)
        if len(head) < HEADER.size or not head.startswith(MAGIC):
            raise ValueError(f"{self.path}: the header of a binary book has 32 bytes and begins with YANE-BINBOOK-V1")
        _, positions, flags = HEADER.unpack(head)
        if flags not in MOVE_RECORDS:
            raise ValueError(f"{self.path}: flags {flags:#x} of the header: only 0 and 1 are known")
        header = _Header(positions, flags, size)
        if header.moves_at > size:
            raise ValueError(
                f"{self.path}: needs {header.moves_at:,} bytes by the number of positions in its header, "
                f"{positions:,}, but has {size:,}; is it cut short?"
            )
        return header

    def _check_index(self, file: BinaryIO) -> None:
        """Check order and offsets: of every position, or of samples of a large book."""
        count = self._header.positions
        if count == 0:
            self._say(f"BookFile: {self.path}: contains no position")
        if count <= CHECK_WHOLE:
            index = self._read_index(file, 0, count)
        else:
            index = np.concatenate([self._read_index(file, count // SAMPLES * n, 1) for n in range(SAMPLES)])
        # As numbers from the highest byte on, keys are compared four words at a time.
        words = index["key"].copy().view(">u8").reshape(-1, CODE_BYTES // 8)
        before, after = words[:-1], words[1:]
        in_order = np.ones(len(before), bool)
        for column in range(CODE_BYTES // 8 - 1, -1, -1):
            one, other = before[:, column], after[:, column]
            in_order = (one < other) | ((one == other) & in_order)
        if not in_order.all():
            raise ValueError(f"{self.path}: the positions are not sorted, so none can be found; write the book again")
        if beyond := int(self._header.beyond(index).sum()):
            self._say(
                f"BookFile: {self.path}: the moves of {beyond:,} of {len(index):,} positions lie beyond the end of the "
                "file (is it cut short?); positions ignored"
            )

    def _read_index(self, file: BinaryIO, first: int, count: int) -> np.ndarray:
        """Read `count` index records from record `first` on."""
        file.seek(HEADER.size + first * INDEX_RECORD.itemsize)
        data = file.read(count * INDEX_RECORD.itemsize)
        if len(data) < count * INDEX_RECORD.itemsize:
            raise ValueError(f"{self.path}: was changed since it was opened; set BookFile again")
        return np.frombuffer(data, INDEX_RECORD)

    def _read_moves(self, file: BinaryIO, record: np.ndarray, number: int) -> list[BookMove]:
        """Read the moves of an index record; those that cannot be read are ignored with a message."""
        if self._header.beyond(record).any():
            return []
        file.seek(self._header.moves_at + int(record["offset"][0]))
        size = int(record["count"][0]) * self._header.record.itemsize
        moves: dict[str, BookMove] = {}
        for entry in np.frombuffer(file.read(size), self._header.record):
            try:
                move = move_from_code(int(entry["move"]))
            except ValueError as error:
                self._say(f"BookFile: {self.path}: position {number + 1}: {error}; move ignored")
                continue
            if move:
                depth = int(entry["depth"]) if self._header.flags & HAS_DEPTH else 0
                moves.setdefault(move, BookMove(move, None, int(entry["value"]), depth, 0))
        return list(moves.values())


def _key_of(sfen: str) -> bytes:
    """The key of a position. Raises ValueError for a position that has none."""
    pos = position_from_sfen(sfen)
    return encode(pos["board"], pos["hands"], int(pos["turn"]), PSV)


def move_from_code(code: int) -> str:
    """The USI move of a Move16 of YaneuraOu; empty for its special codes (none, null, resign, win).

    Bits 0 to 6 are the target, bits 7 to 13 the origin or, with bit 14 set, the dropped piece; bit 15 is promotion.
    Raises ValueError for a code that is no move.
    """
    target, origin = code & 127, code >> 7 & 127
    if not code & _DROP and target == origin:
        return ""
    if code & _DROP:
        if 1 <= origin <= len(_PIECES) and target < SQUARES and not code & _PROMOTE:
            return f"{_PIECES[origin - 1]}*{square_to_usi(target)}"
    elif origin < SQUARES and target < SQUARES:
        return square_to_usi(origin) + square_to_usi(target) + ("+" if code & _PROMOTE else "")
    raise ValueError(f"{code:#06x} is not a move")


def code_of_move(usi: str) -> int:
    """The Move16 of YaneuraOu of a well-formed USI move."""
    target = square_from_usi(usi[2:4])
    if usi[1] == "*":
        return _DROP | (_PIECES.index(usi[0]) + 1) << 7 | target
    return (_PROMOTE if usi.endswith("+") else 0) | square_from_usi(usi[:2]) << 7 | target
