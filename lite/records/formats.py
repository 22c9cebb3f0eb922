"""Layouts and constants of the record files: hcpe (38 bytes per position), psv (40 bytes per position), and the games
of hcpe3 and pack (see `lite.records.pack`).

Scores are centipawns for the side to move; most programs write a mate as +-32000. hcpe and hcpe3 are formats of dlshogi
and cshogi (HuffmanCodedPosAndEval, HuffmanCodedPosAndEval3), psv is YaneuraOu's PackedSfenValue.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from search.system.files import leads_to_file, require_file

HCPE, HCPE3, PSV, PACK = "hcpe", "hcpe3", "psv", "pack"
GAME_FORMATS = (HCPE3, PACK)
"""Formats that hold games, not single positions."""
RECORD_FORMATS = (HCPE, HCPE3, PSV, PACK)

hcpe_dtype = np.dtype(
    [
        ("hcp", np.uint8, 32),
        ("score", "<i2"),  # for the mover
        ("move", "<u2"),  # 16 bits as in search.rules.shogi, 0 = none
        ("result", np.uint8),  # winner and kind, see below
        ("padding", np.uint8),  # NO_SCORE beside a score of 0: the score is unknown
    ]
)
psv_dtype = np.dtype(
    [
        ("sfen", np.uint8, 32),
        ("score", "<i2"),  # for the mover, on the scale of the engine that wrote it
        ("move", "<u2"),  # YaneuraOu's 16 bits: target 7, origin or kind + 1 of a drop 7, drop 1, promotion 1
        ("move_number", "<u2"),  # 1 at the start position
        ("result", np.int8),  # for the mover: 1 win, 0 draw, -1 loss; the kind of result is not kept
        ("padding", np.uint8),  # as in hcpe
    ]
)
# hcpe3: one header per game, then for each move a move header followed by its candidates.
game_dtype = np.dtype([("hcp", np.uint8, 32), ("moves", "<u2"), ("result", np.uint8), ("opponent", np.uint8)])
move_dtype = np.dtype([("move", "<u2"), ("score", "<i2"), ("candidates", "<u2")])
candidate_dtype = np.dtype([("move", "<u2"), ("visits", "<u2")])
MOST_VISITS = 65535
"""Largest visit count that a candidate can hold."""

POSITION_BYTES = {HCPE: hcpe_dtype.itemsize, PSV: psv_dtype.itemsize}

DRAW, BLACK_WINS, WHITE_WINS = 0, 1, 2
WINNER_MASK = 3
"""The two low bits of a result in hcpe and hcpe3 hold the winner; the others hold the kind of ending."""
SENNICHITE, DECLARATION, MOVE_LIMIT = 4, 8, 16
KIND_MASK = SENNICHITE | DECLARATION | MOVE_LIMIT
RESULT_MASK = WINNER_MASK | KIND_MASK
# No format can express that a position has no score, and other programs would train on any score except 0. So an
# unknown score is written as 0, as other programs do, with a mark that they ignore.
# hcpe and psv: the padding byte is NO_SCORE. Some programs leave that byte uninitialised, so the mark is an unlikely
# value and is respected only beside a score of 0.
# hcpe3 has no spare byte per move: the bit ZERO_IS_NO_SCORE in the game's result means that scores of 0 are unknown. A
# known score of 0 is written as 1 in such a game.
# Files of other programs carry no marks: if all scores of an hcpe or psv file, or of an hcpe3 game of several moves,
# are 0, the scores are taken as unknown.
NO_SCORE = 0x6E
ZERO_IS_NO_SCORE = 128
NO_RESULT = 0x52
"""Value of the padding byte beside a draw: the position has no game, hence no result. Its score is known, even if it
is 0; a position with neither result nor score has NO_SCORE there."""
NO_GAME = 64
"""Bit of kind_of_result beside a draw, in memory only: the position has no game, see NO_RESULT."""
ENTERED = 32
"""Bit of kind_of_result, in memory only and on request: the mover's king is in the enemy camp when the game ends."""

MAX_CANDIDATES = 593
"""Largest number of legal moves in any position; an hcpe3 file with a larger number of candidates is damaged."""
MAX_MOVES = 2047
"""Longest game that can be read: the capacity of the search's position record."""

_JSON = (".jkf", ".json")
_PACKED = (".7z", ".bz2", ".gz", ".lzh", ".lzma", ".rar", ".tar", ".tgz", ".xz", ".zip", ".zst")
_SUFFIXES = {".hcpe": HCPE, ".hcpe3": HCPE3, ".psv": PSV, ".bin": PSV, ".pack": PACK}
WRITTEN_SUFFIXES = tuple(suffix for suffix, form in _SUFFIXES.items() if form != PACK)
"""Suffixes of the formats that are written; .pack is only read."""
_FOUND_SUFFIXES = (".hcpe", ".hcpe3", ".psv", ".pack")
"""Suffixes of the record files that are used in a directory; a .bin file may hold anything."""


class RecordError(ValueError):
    """A record file cannot be used. The message is one line with the file, the place and the remedy."""


class NotRecords(RecordError):
    """A file or folder holds no records, but perhaps games to convert; carries its path."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


def record_format(path: Path) -> str:
    """Return the format (RECORD_FORMATS) by the file's suffix; `.bin` is psv. Raises RecordError for other suffixes."""
    try:
        return _SUFFIXES[path.suffix.lower()]
    except KeyError:
        refuse_other_formats(path)
        known = ", ".join(_SUFFIXES)
        raise NotRecords(
            path,
            f"the suffix is not that of a record file; rename it to one of {known}, or, if it holds games, "
            f"convert it to {path.stem}.hcpe3 first",
        ) from None


def refuse_other_formats(path: Path) -> None:
    """Raise RecordError for the suffix of a compressed file, or of games in JSON: no other name makes them readable."""
    if path.suffix.lower() in _JSON:
        raise RecordError(f"{path}: games in JSON, such as JKF, are neither read nor written; use KIF, KI2 or CSA")
    if path.suffix.lower() in _PACKED:
        raise RecordError(f"{path}: compressed files are neither read nor written; unpack it and give the file inside")


def is_record_name(path: Path) -> bool:
    """Return whether a file of this name in a directory is treated as a record file."""
    return path.suffix.lower() in _FOUND_SUFFIXES


def record_files(paths: Iterable[Path | str]) -> list[Path]:
    """Return the given files, with each directory replaced by its record files sorted by name.

    A `.bin` file may hold anything, so it is used only if it is given itself. Raises OSError or RecordError."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(entry for entry in path.iterdir() if is_record_name(entry) and leads_to_file(entry))
            if not inside:
                raise NotRecords(
                    path,
                    f"no record files ({', '.join(_FOUND_SUFFIXES)}) in this directory; if it holds games, convert "
                    "them first",
                )
            files += inside
        elif path.is_file():
            record_format(path)
            files.append(path)
        else:
            require_file(path)
    if not files:
        raise RecordError(f"no record files given; give at least one {', '.join(_FOUND_SUFFIXES)} file")
    return files
