"""Writing a text book (`.db`) as a binary one (`.ybb`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.book.binary_book import ANY_PLY, HAS_DEPTH, HEADER, INDEX_RECORD, MAGIC, MOVE_RECORDS, code_of_move
from search.book.book_move import BookMove
from search.book.text_book import Unreadable, read_positions
from search.rules.huffman import CODE_BYTES, PSV, encode
from search.rules.sfen import position_from_sfen
from search.score import MATE
from search.system.files import WholeFile, check_output, require_file

_MOST = 0xFFFF
"""Largest depth, move number and number of moves of a position."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class ConvertedBook:
    """Counts of a conversion."""

    positions: int
    """Positions written."""
    moves: int
    """Moves written."""
    duplicates: int
    """Entries left out: of several entries of one position, the first with the lowest move number is kept."""
    ignored: int
    """Lines and positions that could not be read."""
    first_ignored: str
    """Place and fault of the first of these; empty if there is none."""


def write_binary(
    source: Path, target: Path, overwrite: bool = False, progress: Callable[[int], None] | None = None
) -> ConvertedBook:
    """Write the text book `source` as the binary book `target`, whole or not at all.

    Values are limited to mate scores of 32,000, depths to 65,535; replies and counts have no place in the format. The
    index is kept in memory, 44 bytes per position; moves are not. `overwrite` says whether an existing file is
    replaced; `progress` is called with the bytes read so far. Raises OSError or ValueError that names the file.
    """
    require_text_book(source)
    check_output(target, overwrite=overwrite, inputs=(source,))
    unreadable = Unreadable(source)
    index = bytearray()
    at = 0
    with contextlib.ExitStack() as stack:
        file, moves_file = stack.enter_context(WholeFile(target)), WholeFile(target)
        stack.callback(moves_file.discard)  # its content goes into `file`
        for number, (sfen, moves, read) in enumerate(read_positions(source, unreadable)):
            try:
                pos = position_from_sfen(sfen)
                key = encode(pos["board"], pos["hands"], int(pos["turn"]), PSV)
            except ValueError as error:
                unreadable.note(f"position {number + 1}", error)
                continue
            content = _moves(moves)
            moves_file.write(content.tobytes())
            record = np.zeros(1, INDEX_RECORD)
            ply = int(sfen.split()[3]) if len(sfen.split()) > 3 else ANY_PLY
            record[0] = (key, at, min(ply, _MOST), len(content))
            index += record.tobytes()
            at += content.nbytes
            if progress is not None:
                progress(read)
        records = np.frombuffer(bytes(index), INDEX_RECORD)
        kept = _sorted(records)
        if not len(kept):
            raise ValueError(str(unreadable) if unreadable.count else f"{source}: there is no position in this book")
        file.write(HEADER.pack(MAGIC, len(kept), HAS_DEPTH))
        file.write(kept.tobytes())
        moves_file.finish()
        with open(moves_file.part, "rb") as written:
            while block := written.read(_BLOCK):
                file.write(block)
    return ConvertedBook(
        positions=len(kept),
        moves=int(kept["count"].sum(dtype=np.int64)),
        duplicates=len(records) - len(kept),
        ignored=unreadable.count,
        first_ignored=unreadable.first,
    )


def require_text_book(path: Path) -> None:
    """Raise OSError unless `path` is a regular file that can be read, and ValueError for a binary book."""
    require_file(path)
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            raise ValueError(f"{path}: a binary book already; name a text book (.db)")


def _sorted(records: np.ndarray) -> np.ndarray:
    """Sort index records by key; of several with one key keep the one with the lowest move number."""
    words = records["key"].copy().view(">u8").reshape(-1, CODE_BYTES // 8)
    columns = [records["ply"], *(words[:, column] for column in range(CODE_BYTES // 8 - 1, -1, -1))]
    order = np.lexsort(columns)
    words = words[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (words[1:] != words[:-1]).any(axis=1)
    return records[order][is_first]


def _moves(moves: list[BookMove]) -> np.ndarray:
    """The records of a position's moves; of a repeated move the last line counts, as in YaneuraOu."""
    unique = list({move.move: move for move in moves}.values())[:_MOST]
    content = np.zeros(len(unique), MOVE_RECORDS[HAS_DEPTH])
    for record, move in zip(content, unique, strict=True):
        value, depth = max(-MATE, min(MATE, move.value)), max(0, min(_MOST, move.depth))
        record["move"], record["value"], record["depth"] = code_of_move(move.move), value, depth
    return content
