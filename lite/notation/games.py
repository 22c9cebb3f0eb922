"""Game files of every notation, one road: CSA, KIF, KI2 and lines of USI moves, each game checked move by move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lite.notation.csa import read_csa
from lite.notation.csa import read_starts as read_csa_starts
from lite.notation.forms import CSA, KIF, SUFFIXES, USI, game_format, told_format
from lite.notation.game import MOVER_DECLARES, MOVER_LOSES, Game, GameBuilder, GameError
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif, read_start
from search.rules.sfen import move_from_usi
from search.rules.shogi import START_SFEN

_SHIFT_JIS_ALONE = re.compile(rb"[\x80-\xa0]")
"""Nearly every character of Shift JIS but half-width kana has such a byte, and EUC has none that one meets."""
_HALF_WIDTH = re.compile("[｡-ﾟ]")
_SPOKEN = re.compile(r"[\0-\x7f]+|(?:[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ|[ｱ-ﾝ])[ｧ-ｮ]?[ｯｰ]*|(?<=[ｧ-ﾟ])･(?=[ｱ-ﾝ])")
"""ASCII, and half-width kana in an order that can be spoken, as `ﾎﾞﾅﾝｻﾞ`: nothing else is left of such a text."""
ANALYSED = ".analysed"
"""What the stem of a game ends in that `liteshogi analyse` has written beside the one it read."""
_NO_TEXT = "its characters are neither UTF-8 nor Shift JIS nor EUC"
MAX_TEXT = 1 << 28
"""Larger text files are refused: notations of one game a file are a few kilobytes, and a text is held whole."""


def is_game_name(path: Path) -> bool:
    """Whether a file of this name in a directory is taken for games: a `.txt` may be anything, and an analysis
    repeats a game that lies there."""
    return game_format(path) is not None and path.suffix.lower() != ".txt" and not path.stem.endswith(ANALYSED)


def read_games(path: Path, unfinished: bool = False) -> Iterator[Game | GameError]:
    """The games of a file. One that cannot be used comes as a GameError that names place and reason, and the next
    follows; one without a result is such unless `unfinished` games are asked for, too. A file whose first lines are
    plainly another notation's than its suffix's is read as what it is.

    Raises OSError if the file cannot be read, ValueError if its suffix is unknown.
    """
    form = game_format(path)
    if form is None:
        raise ValueError(f"{path}: not a game file by its suffix; rename it to one of {', '.join(SUFFIXES)}")
    text = _text(path)
    if text is None:
        yield GameError(f"{path}: {_NO_TEXT}")
        return
    form = told_format(text, form)
    if form == CSA:
        yield from read_csa(text, str(path), unfinished)
    elif form == USI:
        yield from _read_usi(text, str(path), unfinished)
    else:
        try:
            yield (read_kif if form == KIF else read_ki2)(text, str(path), unfinished)
        except GameError as error:
            yield GameError(f"{path}: {error}", error.reason)


def read_starts(path: Path) -> list[str] | None:
    """The SFENs of the first positions of a CSA, KIF or KI2 file's games, by its lines as for `read_games`; None of a
    file of lines. They need have neither moves nor, as those of tsume, the attacker's king.

    Raises OSError if the file cannot be read, ValueError that names the file for one that holds no position.
    """
    named = game_format(path) or USI
    if named == USI and path.suffix.lower() != ".txt":
        return None
    text = _text(path)
    if text is None:
        raise GameError(f"{path}: {_NO_TEXT}")
    form = told_format(text, named)
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
    """A file's characters; None if they are of no encoding that is known. Raises OSError or ValueError in words."""
    if path.stat().st_size > MAX_TEXT:
        raise ValueError(f"{path}: larger than {MAX_TEXT >> 20} MiB; split it")
    return _decoded(path.read_bytes())


def _decoded(raw: bytes) -> str | None:
    """The text of UTF-8, Shift JIS or EUC.

    EUC may be Shift JIS by its bytes, then of half-width kana as nobody writes them: of `みさき` they make `､ﾟ､ｵ､ｭ`.
    """
    text = _decoded_as(raw, "utf-8-sig")
    if text is not None:
        return text
    text = _decoded_as(raw, "cp932")
    if text is not None and (_SHIFT_JIS_ALONE.search(raw) or not _HALF_WIDTH.search(text) or not _SPOKEN.sub("", text)):
        return text
    euc = _decoded_as(raw, "euc_jp")
    return text if euc is None else euc


def _decoded_as(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return None


def _read_usi(text: str, name: str, unfinished: bool) -> Iterator[Game | GameError]:
    """One game a line: `startpos moves ...`, `[sfen] SFEN moves ...`, with or without a leading `position`."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        place = f"{name} line {number}"
        try:
            yield _usi_game(words, place, unfinished)
        except GameError as error:
            yield GameError(f"{place}: {error}", error.reason)


def _usi_game(words: list[str], place: str, unfinished: bool) -> Game:
    """A line's words. The format holds no result: it is that of a last word `resign` or `win` (declaration), or of a
    last position that is checkmate or has come up for the fourth time."""
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
    for index, word in enumerate(words):
        if word in ("resign", "win") and index == len(words) - 1:
            return builder.finish(word, MOVER_LOSES if word == "resign" else MOVER_DECLARES)
        try:
            move = move_from_usi(word)
        except ValueError as error:
            raise GameError(f"move {index + 1}: {error}") from None
        builder.play(move)
    return builder.finish("", None, unfinished)


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
