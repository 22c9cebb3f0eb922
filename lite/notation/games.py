"""Read game files of every notation: CSA, KIF, KI2 and lines of USI moves; each game is checked move by move."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path

from lite.notation.csa import read_csa
from lite.notation.csa import read_starts as read_csa_starts
from lite.notation.forms import CSA, KIF, SUFFIXES, USI, detect_format, game_format
from lite.notation.game import MOVER_DECLARES, MOVER_LOSES, Game, GameBuilder, GameError, quoted
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif, read_start
from lite.records.formats import is_record_name, refuse_other_formats
from search.rules.play import split_ending
from search.rules.sfen import move_from_usi
from search.rules.shogi import START_SFEN
from search.system.files import require_file

_SHIFT_JIS_ALONE = re.compile(rb"[\x80-\xa0]")
"""Bytes that nearly every Shift JIS character except half-width kana contains, and that EUC text does not contain."""
_HALF_WIDTH = re.compile("[｡-ﾟ]")
_PRONOUNCEABLE = re.compile(r"[\0-\x7f]+|(?:[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ|[ｱ-ﾝ])[ｧ-ｮ]?[ｯｰ]*|(?<=[ｧ-ﾟ])･(?=[ｱ-ﾝ])")
"""ASCII, and half-width kana in a pronounceable order such as `ﾎﾞﾅﾝｻﾞ`. Real text has no other characters left."""
ANALYSED = ".analysed"
"""Ending of the stem of a game file with an analysis, which lies beside the game that was analysed."""
_NO_TEXT = "its characters are neither UTF-8 nor Shift JIS nor EUC"
_OUTCOMES = {"resign": MOVER_LOSES, "win": MOVER_DECLARES}
"""Outcomes of the endings in lines of USI moves."""
MAX_TEXT = 1 << 28
"""Largest text file in bytes. A text is held in memory, and real game files have a few kilobytes per game."""


def is_game_name(path: Path) -> bool:
    """Return whether a file of this name in a directory is treated as games. A `.txt` may hold anything, and an
    analysis repeats the game beside it."""
    return game_format(path) is not None and path.suffix.lower() != ".txt" and not path.stem.endswith(ANALYSED)


def read_games(path: Path, unfinished: bool = False) -> Iterator[Game | GameError]:
    """Yield the games of a file; a game that cannot be used comes as a GameError with place and reason.

    A game without a result is a GameError too, unless `unfinished`, and so is a file without a game. A file whose first
    lines clearly belong to another notation than its suffix is read in that notation.
    Raises OSError if the file cannot be read, ValueError if its suffix is not that of a game file.
    """
    form = game_format(path)
    if form is None:
        raise _not_games(path)
    text = _text(path)
    if text is None:
        yield GameError(f"{path}: {_NO_TEXT}")
        return
    if not text.strip():
        yield GameError(f"{path}: the file is empty; remove it or write it again", "no moves")
        return
    form = detect_format(text, form)
    if form == CSA:
        yield from read_csa(text, str(path), unfinished)
    elif form == USI:
        yield from _read_usi(text, str(path), unfinished)
    else:
        try:
            yield (read_kif if form == KIF else read_ki2)(text, str(path), unfinished)
        except GameError as error:
            yield GameError(f"{path}: {error}", error.reason)


def _not_games(path: Path) -> ValueError:
    """Return the error for a suffix that is not that of a game file. Raises OSError or RecordError for a file that no
    name would make readable."""
    require_file(path)
    refuse_other_formats(path)
    if is_record_name(path):
        return ValueError(f"{path}: a file of records; name the game files that it was made from")
    return ValueError(f"{path}: the suffix is not that of a game file; rename it to one of {', '.join(SUFFIXES)}")


def read_starts(path: Path) -> list[str] | None:
    """Return the SFENs of the first positions of a CSA, KIF or KI2 file's games; None for a file of USI lines.

    The games may lack moves and, as mate problems do, the attacker's king. The notation is detected as in `read_games`.
    Raises OSError if the file cannot be read, ValueError that names the file if it holds no position.
    """
    named = game_format(path) or USI
    if named == USI and path.suffix.lower() != ".txt":
        return None
    text = _text(path)
    if text is None:
        raise GameError(f"{path}: {_NO_TEXT}")
    form = detect_format(text, named)
    if form == USI:
        return None
    if not text.strip():
        raise GameError(f"{path}: no position: the file is empty")
    if form == CSA:
        return read_csa_starts(text, str(path))
    try:
        return [read_start(text)]
    except GameError as error:
        raise GameError(f"{path}: {error}", error.reason) from None


def _text(path: Path) -> str | None:
    """Return a file's text, or None if its encoding is unknown. Raises OSError, or ValueError if it is too large.

    The marks of the end of a file that old systems wrote, Ctrl-Z and a padding of zeros, are left out, and so are byte
    order marks, which files joined to one have in the middle."""
    require_file(path)
    if path.stat().st_size > MAX_TEXT:
        raise ValueError(f"{path}: larger than {MAX_TEXT >> 20} MiB; split it")
    text = _decoded(path.read_bytes())
    return None if text is None else text.rstrip("\0\x1a").replace("\ufeff", "")


def _decoded(raw: bytes) -> str | None:
    """Return the text of UTF-8, Shift JIS, EUC or JIS bytes, or of UTF-16 bytes with a byte order mark; None for other
    encodings.

    EUC bytes may be valid Shift JIS, but then give half-width kana in an impossible order: `みさき` becomes `､ﾟ､ｵ､ｭ`.
    """
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _decoded_as(raw, "utf-16")
    if b"\x1b$" in raw and (text := _decoded_as(raw, "iso2022_jp")) is not None:
        return text
    text = _decoded_as(raw, "utf-8")
    if text is not None:
        return text
    text = _decoded_as(raw, "cp932")
    if text is not None:
        plausible = not _HALF_WIDTH.search(text) or not _PRONOUNCEABLE.sub("", text)
        if plausible or _SHIFT_JIS_ALONE.search(raw):
            return text
    euc = _decoded_as(raw, "euc_jp")
    return text if euc is None else euc


def _decoded_as(raw: bytes, encoding: str) -> str | None:
    """Return the bytes decoded, or None if they are not of this encoding."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return None


def _read_usi(text: str, name: str, unfinished: bool) -> Iterator[Game | GameError]:
    """Yield one game per line: `startpos moves ...` or `[sfen] SFEN moves ...`, with or without `position` before."""
    found = False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        found = True
        place = f"{name} line {number}"
        try:
            yield _usi_game(words, place, unfinished)
        except GameError as error:
            yield GameError(f"{place}: {error}", error.reason)
    if not found:
        yield GameError(f"{name}: holds no game; write one per line, as `startpos moves ...`", "no moves")


def _usi_game(words: list[str], place: str, unfinished: bool) -> Game:
    """Return the game of a line's words. Raises GameError.

    The format holds no result. It follows from the first word `resign` or `win` (declaration) after the moves, or from
    a last position that is checkmate or the fourth repetition."""
    if words[0] == "position":
        words = words[1:]
    start = START_SFEN
    if words[:1] == ["startpos"]:
        words = words[1:]
    elif words and (words[0] == "sfen" or "/" in words[0]):
        words = words[words[0] == "sfen" :]
        end = words.index("moves") if "moves" in words else 4  # the number may be missing
        start, words = " ".join(words[:end]), words[end:]
    builder = GameBuilder(place, start)
    if words[:1] == ["moves"]:
        words = words[1:]
    try:
        moves, ending = split_ending(words)
    except ValueError as error:
        raise GameError(str(error)) from None
    for word in moves:
        builder.refuse_more()
        try:
            move = move_from_usi(word)
        except ValueError:
            raise GameError(f"{builder.next_move()}: {quoted(word)} is not a USI move") from None
        builder.play(move)
    return builder.finish(ending, _OUTCOMES.get(ending), unfinished)


__all__ = [
    "ANALYSED",
    "Game",
    "GameBuilder",
    "GameError",
    "game_format",
    "is_game_name",
    "read_games",
    "read_starts",
]
