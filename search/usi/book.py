"""Opening books in YaneuraOu's text format (`.db`), looked up on disk.

The file begins with `#YANEURAOU-DB2016 1.00`. A line `sfen BOARD SIDE HANDS PLY` begins a position, and each line after
it is a move: `MOVE REPLY VALUE DEPTH COUNT`, where all but the move may be missing, or `none` as ShogiHome writes what
it does not know. Lines that begin with `#` or `//` say nothing. YaneuraOu writes books sorted by their `sfen` lines, so
that a position is found by bisection whatever the size; a small book need not be sorted, it is read whole once and an
index is kept.
(https://yaneuraou.yaneu.com/2016/02/05/standard-shogi-book-format/)
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

READ_WHOLE = 16 << 20
"""A book of at most so many bytes is read whole when it is opened, and every line is checked."""
SAMPLES = 64
"""Number of places of a larger book where its order is checked."""
LONGEST_ENTRY = 1 << 16
"""Most bytes of a position and its moves: 593 moves of 60 characters are fewer."""
_CHUNK = 4096
_HEADER = b"#YANEURAOU-DB2016"
_MOVE = re.compile(r"[1-9][a-i][1-9][a-i]\+?|[PLNSBRG]\*[1-9][a-i]")
_NO_MOVE = ("none", "None", "resign", "win", "null")
"""Words that YaneuraOu and ShogiHome write in place of a move or a reply."""
_BOARD = re.compile(rb"[1-9PLNSGBRKplnsgbrk+/]{17,150}")
_HANDS = re.compile(rb"-|(?:[0-9]{0,2}[PLNSBRGplnsbrg])+")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_MARK = b"\xef\xbb\xbf"
"""The byte order mark at the start of a file, written by some editors."""


@dataclass(frozen=True)
class BookMove:
    """A move of a book."""

    move: str
    reply: str | None = None
    value: int = 0
    depth: int = 0
    count: int = 1


class Book:
    """A text book on disk, opened for each look-up: any thread may call `find`."""

    def __init__(self, path: Path | str) -> None:
        """Open it. Raises OSError, or ValueError in one line that names the file and the line, and what is wrong."""
        self.path = Path(path)
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path}: there is no such book")
        self._index: dict[bytes, list[int]] | None = None
        with open(self.path, "rb") as file:
            head = file.read(64)
            self._first = len(_MARK) if head.startswith(_MARK) else 0
            if not head[self._first :].startswith((_HEADER, b"sfen ", b"//")):
                raise ValueError(
                    f"{self.path}: line 1 is not {_HEADER.decode()} 1.00; only YaneuraOu's text books (.db) can be read"
                )
            self._size = os.fstat(file.fileno()).st_size
            if self._size <= READ_WHOLE:
                self._check_whole(file)
            else:
                self._check_order(file)

    def find(self, sfen: str, ignore_ply: bool = True) -> list[BookMove]:
        """Return the moves of a position in the file's order; [] if the book does not have it.

        `ignore_ply` says whether the move number may differ. Raises OSError, or ValueError for a damaged line or a file
        that changed since it was opened.
        """
        words = sfen.encode("ascii", "replace").split()
        key, ply = b" ".join(words[:3]), words[3] if len(words) > 3 else b"1"
        with open(self.path, "rb") as file:
            for place in self._places(file, key):
                header, *lines = _entry(file, place)
                if _key(header) != key:  # the index belongs to the file that was opened
                    raise ValueError(f"{self.path}: was written to since it was opened; set BookFile again")
                if ignore_ply or header.split()[4:5] in ([], [ply]):
                    return self._moves(place, lines)
        return []

    def _places(self, file: BinaryIO, key: bytes) -> list[int]:
        """Return the places where entries of a position begin."""
        if self._index is not None:
            return self._index.get(key, [])
        low, high = self._first, self._size
        while low < high:
            middle = (low + high) // 2
            at, found = self._next(file, middle)
            if at >= high or found >= key:
                high = middle
            else:
                low = at + 1
        places = []
        at, found = self._next(file, low)
        while found == key and at < self._size:  # the same position with several move numbers
            places.append(at)
            at, found = self._next(file, at + 1)
        return places

    def _next(self, file: BinaryIO, start: int) -> tuple[int, bytes]:
        """Return place and key of the first entry that begins at `start` or later; the file's size if there is none."""
        begun = max(self._first, start - 1)
        data = b"\n" if start <= self._first else b""
        shift = len(data)
        file.seek(begun)
        while True:
            more = file.read(_CHUNK)
            data += more
            found = data.find(b"\nsfen ")
            end = data.find(b"\n", found + 1) if found >= 0 else -1
            if found >= 0 and (end >= 0 or not more):
                return begun + found + 1 - shift, _key(data[found + 1 : end if end >= 0 else None])
            if not more:
                return self._size, b""
            if len(data) > 2 * LONGEST_ENTRY:
                raise ValueError(
                    f"{self.path}: no position in the {len(data)} bytes from byte {begun} on; is it a book?"
                )

    def _moves(self, place: int, lines: list[bytes]) -> list[BookMove]:
        moves: dict[str, BookMove] = {}
        for line in lines:
            if not line or line.startswith((b"#", b"//")):
                continue
            try:
                found = _book_move(line)
            except ValueError as error:
                raise ValueError(f"{self.path}: position at byte {place}: {error}") from None
            if found is not None:
                known = moves.get(found.move)
                # As in YaneuraOu the later line is used, with the counts of both added.
                moves[found.move] = replace(found, count=found.count + known.count) if known else found
        return list(moves.values())

    def _check_whole(self, file: BinaryIO) -> None:
        """Read every line; keep an index unless the positions are sorted."""
        places: dict[bytes, list[int]] = {}
        in_order, last, at, has_entry = True, b"", self._first, False
        file.seek(at)
        for number, line in enumerate(file, 1):
            text = line.strip()
            try:
                if text.startswith(b"sfen "):
                    if not line.startswith(b"sfen "):
                        raise ValueError("blanks before the position, which no look-up would find")
                    key = _checked_key(text)
                    in_order = in_order and last <= key
                    last, has_entry = key, True
                    places.setdefault(key, []).append(at)
                elif text and not text.startswith((b"#", b"//")):
                    if not has_entry:
                        raise ValueError("a move before the first position")
                    _book_move(text)
            except ValueError as error:
                cut = "; is the file cut short?" if not line.endswith(b"\n") else ""
                raise ValueError(f"{self.path}: line {number}: {error}{cut}") from None
            at += len(line)
        if not in_order:
            self._index = places

    def _check_order(self, file: BinaryIO) -> None:
        """Check the order at places all over a large book: bisection fails in an unsorted one."""
        last = b""
        for sample in range(SAMPLES):
            at, key = self._next(file, self._size // SAMPLES * sample)
            if at < self._size and key < last:
                raise ValueError(
                    f"{self.path}: the position at byte {at} is out of order; a book of more than "
                    f"{READ_WHOLE >> 20} MB must be sorted: write it again with YaneuraOu's `makebook sort`"
                )
            last = max(last, key)


def _entry(file: BinaryIO, place: int) -> list[bytes]:
    """Return the lines of the entry that begins at `place`."""
    file.seek(place)
    data = file.read(LONGEST_ENTRY)
    end = data.find(b"\nsfen ")
    return [line.strip() for line in (data if end < 0 else data[:end]).split(b"\n")]


def _key(line: bytes) -> bytes:
    """Board, side and hands of an `sfen` line."""
    return b" ".join(line.split()[1:4])


def _checked_key(line: bytes) -> bytes:
    words = line.split()
    if not (
        4 <= len(words) <= 5
        and _BOARD.fullmatch(words[1])
        and words[1].count(b"/") == 8
        and words[2] in (b"b", b"w")
        and _HANDS.fullmatch(words[3])
        and (len(words) == 4 or words[4].isdigit())
    ):
        raise ValueError(f"cannot read the position {_quoted(line)}")
    return b" ".join(words[1:4])


def _book_move(line: bytes) -> BookMove | None:
    """Read a move's line; None if it says that there is no move. Raises ValueError for an unreadable line."""
    words = line.decode("ascii", "replace").split()
    if not words or words[0] in _NO_MOVE:
        return None
    reply = words[1] if len(words) > 1 and words[1] not in _NO_MOVE else None
    if not _MOVE.fullmatch(words[0]) or (reply and not _MOVE.fullmatch(reply)):
        raise ValueError(f"cannot read the move {_quoted(line)}")
    numbers = [0, 0, 1]
    for place, word in enumerate(words[2:5]):
        if _NUMBER.fullmatch(word):
            numbers[place] = int(word)
        elif word not in _NO_MOVE:
            raise ValueError(f"cannot read the numbers of the move {_quoted(line)}")
    value, depth, count = numbers
    return BookMove(words[0], reply, value, depth, max(0, count))


def _quoted(line: bytes) -> str:
    return repr(line[:60].decode("ascii", "replace").replace("\ufffd", "?"))
