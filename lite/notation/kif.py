"""Read KIF game records, with the scores that ShogiGUI and ShogiHome write into comments.

cshogi's parser is only the oracle of the tests: it skips lines that it cannot read and plays on, which gives a shorter
or another game, and it does not read board diagrams.

A game is read only if its parts agree: the number of the ending follows that of the last move, and the verdict below
(`まで49手で先手の勝ち`) has the same number of moves and the same winner. So a file that lost a line is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lite.notation.game import Game, GameBuilder, GameError, quoted
from lite.notation.kif_endings import ENDINGS, unknown_ending
from lite.notation.kif_lines import (
    MARK,
    MOVE_LINE,
    PIECE_SIGNS,
    PIECES,
    SQUARE,
    Reader,
    abbreviated,
    is_ki2,
    plain_lines,
)
from search.rules.shogi import DROP_ORIGIN, HAND_KINDS, KINDS, NO_MOVE, PROMOTE

_MOVE = re.compile(rf"({SQUARE}|同)\s*({PIECE_SIGNS})\s*(?:打|(?:(成)|不成)?\s*[(（]([1-9１-９])([1-9１-９])[)）])(.*)")
_CLOCK = re.compile(r"\(\s*(?:([0-9]{1,4}):)?([0-9]{1,6}):([0-9]{1,2}(?:\.[0-9]+)?)\s*[/)]")


def read_kif(text: str, place: str, unfinished: bool = False) -> Game:
    """Return the game of a KIF text: the main line, and its variations as written. Raises GameError."""
    reader, lines = Reader(place, unfinished), plain_lines(text)
    ended = False
    for index, line in enumerate(lines):
        if not line:
            continue
        reader.line = index + 1
        if line.startswith("変化") and reader.builder is not None:
            reader.builder.variations = "\n".join(lines[index:]).rstrip("\n")  # the main line is complete
            break
        if match := MOVE_LINE.fullmatch(line):
            if ended:
                raise reader.error(f"a move after the ending: {quoted(line)}")
            ended = reader.start().ended = _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line) and not ended:  # remarks such as 後手時間切れ may follow the ending
            raise reader.error(f"cannot read the line {quoted(line)}")
    return reader.finish()


def read_start(text: str) -> str:
    """Return the SFEN of a KIF or KI2 text's first position; moves are ignored, and a king may be missing. Raises
    GameError."""
    reader = Reader("", unfinished=True)
    for reader.line, line in enumerate(plain_lines(text), 1):
        if not line:
            continue
        if line.startswith("手数--") or MOVE_LINE.fullmatch(line) or is_ki2(line):
            break
        if not reader.other_line(line):
            raise reader.error(f"cannot read the line {quoted(line)}")
    return reader.start_sfen()


@dataclass(frozen=True)
class Variation:
    """An alternative line of a game."""

    first: int
    """Number of its first own move; the moves before it belong to the game or to an earlier variation."""
    moves: tuple[int, ...]
    """All 16-bit moves from the game's first position, including those before the branch."""
    comments: Mapping[int, list[str]]
    """Comment lines by the number of moves before them, as in `Game.comments`."""


def read_variations(game: Game) -> tuple[list[Variation], GameError | None]:
    """Return a game's variations in order, and the error of the first one that cannot be read, or None.

    Each variation branches from the line before it, the main line or another variation, as in Kifu for Windows. So the
    variations after an unreadable one are not returned."""
    found: list[Variation] = []
    before = tuple(game.moves.tolist())
    for block in re.split(r"^変化[：:]\s*", game.variations, flags=re.MULTILINE)[1:]:
        head, *lines = block.split("\n")
        place = f"{game.place}, variation {len(found) + 1}"
        number = re.match(r"([0-9]{1,6})手", head)
        first = int(number[1]) if number else 0
        if not 1 <= first <= len(before) + 1:
            error = GameError(f"{place}: cannot read 変化：{quoted(head, 20)}; correct the line or remove it")
            return found, error
        try:
            builder = _read_variation(place, game.start_sfen, before[: first - 1], lines)
        except GameError as error:
            return found, GameError(f"{place}: {error}", error.reason)
        before = tuple(builder.moves)
        found.append(Variation(first, before, builder.comments))
    return found, None


def _read_variation(place: str, start_sfen: str, before: tuple[int, ...], lines: list[str]) -> GameBuilder:
    """Replay the moves before a variation, then its own lines, and return the builder."""
    reader = Reader(place, unfinished=True)
    reader.builder = builder = GameBuilder(place, start_sfen)
    for move in before:
        builder.play(move)
    for line in filter(None, lines):
        if match := MOVE_LINE.fullmatch(line):
            if _kif_line(reader, int(match.group(1)), match.group(2)):
                break
        elif not reader.other_line(line):
            raise reader.error(f"cannot read the line {quoted(line)}")
    return builder


def _kif_line(reader: Reader, number: int, text: str) -> bool:
    """Read a numbered line; return True if it ends the game."""
    builder, text = reader.start(), MARK.sub("", text, count=1)
    match = _MOVE.match(abbreviated(text))
    if match is None:
        for name, outcome in ENDINGS.items():
            if text.startswith(name):
                reader.ending, reader.outcome, reader.ending_number = name, outcome, number
                if (took := _clock(text)) is not None:
                    builder.time_of_ending(took)
                return True
        if word := unknown_ending(text):
            reader.ending, reader.ending_number = word, number
            return True
    builder.refuse_more()
    if number != len(builder.moves) + 1:
        raise reader.error(f"number {number} stands where move {len(builder.moves) + 1} should")
    if match is None:
        raise reader.error(f"cannot read move {number} {quoted(text, 20)}")
    where, sign, promotion, file, rank, rest = match.groups()
    kind, move, written = PIECES[sign], reader.target(where), match.string[: match.start(6)].rstrip(" 　")
    if file is None:
        # A kind that cannot be in hand gives no move at all.
        builder.play(move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else NO_MOVE, written)
    else:
        origin = (int(file) - 1) * 9 + int(rank) - 1
        if int(builder.pos["board"][origin]) != builder.turn * KINDS + kind:
            raise reader.error(f"move {number} ({written}): no such piece stands there")
        builder.play(move | origin << 7 | (PROMOTE if promotion else 0), written)
    if (took := _clock(rest)) is not None:
        builder.time_of_last(took)
    return False


def _clock(text: str) -> int | None:
    """Return the milliseconds of the move from a clock such as `( 0:05/00:00:12)`; None if there is no clock."""
    match = _CLOCK.search(text)
    if match is None:
        return None
    hours, minutes, seconds = match.groups()
    return round(1000 * (3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)))
