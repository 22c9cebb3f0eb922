"""Opening books in YaneuraOu's text format (`.db`), searched on disk.

The file begins with `#YANEURAOU-DB2016 1.00`, perhaps after comments and empty lines. A line
`sfen BOARD SIDE HANDS PLY` begins a position. Each line after it is a move: `MOVE REPLY VALUE DEPTH COUNT`, where all
but the move may be missing, or `none`, which ShogiHome writes for an unknown value. Lines that begin with `#` or `//`
are comments. YaneuraOu writes books sorted by their `sfen` lines, so that bisection finds a position at any size. A
small book may be unsorted: it is read whole, and an index is kept.
(https://yaneuraou.yaneu.com/2016/02/05/standard-shogi-book-format/)

A line that cannot be read is ignored and reported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO
from unicodedata import normalize

from search.book.book_move import Book, BookMove, Say

READ_WHOLE = 16 << 20
"""Largest size in bytes of a book that is read whole when it is opened, with every line checked."""
SAMPLES = 64
"""Number of places of a larger book where its order is checked."""
LONGEST_ENTRY = 1 << 16
"""Most bytes of a position and its moves: 593 moves of 60 characters are fewer."""
_CHUNK = 4096
_HEADER = b"#YANEURAOU-DB2016"
_POSITION = re.compile(rb"sfen[ \t]")
"""The start of a line that begins a position."""
_NEXT_POSITION = re.compile(rb"\n(?=sfen[ \t])")
_BEFORE_FIRST = "a move before the first position"
_MOVE = re.compile(r"[1-9][a-i][1-9][a-i]\+?|[PLNSBRG]\*[1-9][a-i]")
_NO_MOVE = ("none", "None", "resign", "win", "null")
"""Words that YaneuraOu and ShogiHome write in place of a move or a reply."""
_BOARD = re.compile(rb"[1-9PLNSGBRKplnsgbrk+/]{17,150}")
_HANDS = re.compile(rb"-|(?:[0-9]{0,2}[PLNSBRGplnsbrg])+")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_DEEPEST = 99_999
"""Largest depth of a move, as of YaneuraOu's options: GUIs may not read longer numbers."""
_MARK = b"\xef\xbb\xbf"
"""The byte order mark at the start of a file, written by some editors."""


class Unreadable:
    """Counts the lines of a book that cannot be read and reports the first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.first = ""

    def note(self, place: str, error: Exception) -> None:
        """Count a line; `place` says where it is."""
        self.count += 1
        self.first = self.first or f"{place}: {error}"

    def __str__(self) -> str:
        lines = "line ignored" if self.count == 1 else f"{self.count} such lines ignored"
        return f"{self.path}: {self.first}; {lines}"


class TextBook(Book):
    """A book in YaneuraOu's text format."""

    def __init__(self, path: Path, say: Say) -> None:
        """Open a book; `say` is called with a message about lines that cannot be read.

        Raises OSError, or ValueError in one line that names the file, the line and the fault.
        """
        self.path = path
        self._say = say
        self._index: dict[bytes, list[int]] | None = None
        with open(path, "rb") as file:
            self._first = _begin(file, path)
            self._size = os.fstat(file.fileno()).st_size
            if self._size <= READ_WHOLE:
                self._check_whole(file)
            else:
                self._check_order(file)

    def find(self, sfen: str, ignore_ply: bool = True) -> list[BookMove]:
        """Return the moves of a position in the file's order; [] if the book does not have it.

        `ignore_ply` says whether the move number may differ. Raises OSError, or ValueError for a file that changed
        since it was opened.
        """
        words = sfen.encode("ascii", "replace").split()
        key, ply = b" ".join(words[:3]), words[3] if len(words) > 3 else b"1"
        with open(self.path, "rb") as file:
            for place in self._places(file, key):
                header, *lines = _entry(file, place)
                if _key(header) != key:  # the index belongs to the file that was opened
                    raise ValueError(f"{self.path}: was changed since it was opened; set BookFile again")
                if ignore_ply or _words(header)[4:5] in ([], [ply]):
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
            found = _NEXT_POSITION.search(data)
            end = data.find(b"\n", found.end()) if found else -1
            if found and (end >= 0 or not more):
                return begun + found.end() - shift, _key(data[found.end() : end if end >= 0 else None])
            if not more:
                return self._size, b""
            if len(data) > 2 * LONGEST_ENTRY:
                raise ValueError(f"{self.path}: no position in the {len(data)} bytes from byte {begun}; is it a book?")

    def _moves(self, place: int, lines: list[bytes]) -> list[BookMove]:
        moves: dict[str, BookMove] = {}
        unreadable = Unreadable(self.path)
        for line in lines:
            if _begins_position(line):
                break
            if not line or line.startswith((b"#", b"//")):
                continue
            try:
                found = read_move(line)
            except ValueError as error:
                unreadable.note(f"position at byte {place}", error)
                continue
            if found is not None:
                known = moves.get(found.move)
                # As in YaneuraOu the later line is used, with the counts of both added.
                moves[found.move] = replace(found, count=found.count + known.count) if known else found
        if unreadable.count and self._size > READ_WHOLE:  # a smaller book was checked when it was opened
            self._say(f"BookFile: {unreadable}")
        return list(moves.values())

    def _check_whole(self, file: BinaryIO) -> None:
        """Check every line; keep an index unless the positions are sorted."""
        places: dict[bytes, list[int]] = {}
        unreadable = Unreadable(self.path)
        in_order, last, at, has_entry = True, b"", self._first, False
        file.seek(at)
        for number, line in enumerate(file, 1):
            text = line.strip()
            try:
                if _begins_position(text):
                    has_entry = True
                    # Bisection compares the keys of all such lines, whether they can be read or not.
                    in_order = in_order and _POSITION.match(line) is not None and last <= _key(text)
                    last = _key(text)
                    places.setdefault(b" ".join(_position(text)[:3]), []).append(at)
                elif text and not text.startswith((b"#", b"//")):
                    if not has_entry:
                        raise ValueError(_BEFORE_FIRST)
                    read_move(text)
            except ValueError as error:
                cut = "" if line.endswith(b"\n") else " (is the file cut short?)"
                unreadable.note(f"line {number}", ValueError(f"{error}{cut}"))
            at += len(line)
        if unreadable.count and not places:
            raise ValueError(f"{unreadable}; there is no position")
        if unreadable.count:
            self._say(f"BookFile: {unreadable}")
        elif not places:
            self._say(f"BookFile: {self.path}: contains no position")
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


def read_positions(path: Path, unreadable: Unreadable) -> Iterator[tuple[str, list[BookMove], int]]:
    """Yield every position of a text book: SFEN (with its move number, if it has one), moves, and bytes read so far.

    Lines that cannot be read are noted in `unreadable`. Raises OSError or ValueError for a file that is no text book.
    """
    with open(path, "rb") as file:
        at = _begin(file, path)
        file.seek(at)
        sfen, moves, has_entry = "", list[BookMove](), False
        for number, line in enumerate(file, 1):
            at += len(line)
            text = line.strip()
            try:
                if _begins_position(text):
                    if sfen:
                        yield sfen, moves, at
                    sfen, moves, has_entry = "", [], True
                    sfen = b" ".join(_position(text)).decode("ascii")
                elif text and not text.startswith((b"#", b"//")):
                    if not has_entry:
                        raise ValueError(_BEFORE_FIRST)
                    if sfen and (found := read_move(text)):
                        moves.append(found)
            except ValueError as error:
                unreadable.note(f"line {number}", error)
        if sfen:
            yield sfen, moves, at


def _begin(file: BinaryIO, path: Path) -> int:
    """Return the place of the first line; ValueError if the file is no text book."""
    head = file.read(_CHUNK)
    first = len(_MARK) if head.startswith(_MARK) else 0
    lines = iter(head[first:].splitlines())
    begun = next((line for line in lines if line.strip() and not _is_comment(line)), b"")
    if not begun.lstrip().startswith(_HEADER) and not _begins_position(begun.lstrip()):
        raise ValueError(f"{path}: line 1: not {_HEADER.decode()} 1.00; books are YaneuraOu's .db and .ybb files")
    if b"\r" in head and b"\n" not in head:
        raise ValueError(f"{path}: its lines end in CR alone, as on old Macs; save it with LF or CR LF")
    return first


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith((b"#", b"//")) and not line.lstrip().startswith(_HEADER)


def _entry(file: BinaryIO, place: int) -> list[bytes]:
    """Return the lines of the entry that begins at `place`."""
    file.seek(place)
    data = file.read(LONGEST_ENTRY)
    end = _NEXT_POSITION.search(data)
    return [line.strip() for line in data[: end.start() if end else None].split(b"\n")]


def _begins_position(line: bytes) -> bool:
    return bool(_POSITION.match(line)) or (not line.isascii() and _words(line)[:1] == [b"sfen"])


def _key(line: bytes) -> bytes:
    """Board, side and hands of an `sfen` line."""
    return b" ".join(_words(line)[1:4])


def _position(line: bytes) -> list[bytes]:
    """Board, side, hands and, if it is given, move number of an `sfen` line. Raises ValueError for an unreadable
    line."""
    words = _words(line)
    if not (
        4 <= len(words) <= 5
        and _BOARD.fullmatch(words[1])
        and words[1].count(b"/") == 8
        and words[2] in (b"b", b"w")
        and _HANDS.fullmatch(words[3])
        and (len(words) == 4 or words[4].isdigit())
    ):
        raise ValueError(f"cannot read the position {_quoted(line)}")
    return words[1:]


def read_move(line: bytes) -> BookMove | None:
    """Read a move's line; None if it says that there is no move. Raises ValueError for an unreadable line."""
    words = _read(line).split()
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
    return BookMove(words[0], reply, value, min(max(0, depth), _DEEPEST), max(0, count))


def _words(line: bytes) -> list[bytes]:
    return line.split() if line.isascii() else _read(line).encode().split()


def _read(line: bytes) -> str:
    """Return a line as text, with characters of full width and the minus sign as those of ASCII."""
    if line.isascii():
        return line.decode("ascii")
    return normalize("NFKC", line.decode("utf-8", "replace")).replace("\N{MINUS SIGN}", "-")


def _quoted(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:60].replace("\ufffd", "?"))
