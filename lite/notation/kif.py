"""KIF game records, with the scores that ShogiGUI and ShogiHome write into comments.

Read here, with cshogi as the oracle of the tests: its KIF parser passes over lines that it cannot read and plays on (a
shorter or another game comes out) and knows no board diagrams.

A game is read only if what it says of itself agrees: the ending's number follows the last move's, and the verdict below
it (`まで49手で先手の勝ち`) has the moves and the winner that stand above. So a file that lost a line is no other game.

Scores are centipawns in black's view. A player's (`**対局 ... 評価値 n`, `**評価値=n`) are of the search that chose the
move above them, an analysis's (`**解析 ... 候補1 ...`, `*#評価値=n`) of the position after it.
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
    """The main line of a KIF text, with its variations as they stand. Raises GameError."""
    reader, lines = Reader(place, unfinished), plain_lines(text)
    ended = False
    for index, line in enumerate(lines):
        if not line:
            continue
        reader.line = index + 1
        if line.startswith("変化") and reader.builder is not None:
            reader.builder.variations = "\n".join(lines[index:]).rstrip("\n")  # they follow the whole main line
            break
        if match := MOVE_LINE.fullmatch(line):
            if ended:
                raise reader.error(f"a move after the ending: {quoted(line)}")
            ended = reader.start().ended = _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line) and not ended:  # below the ending stand remarks, as 後手時間切れ
            raise reader.error(f"cannot read the line {quoted(line)}")
    return reader.finish()


def read_start(text: str) -> str:
    """The SFEN of a KIF or KI2 text's first position, without regard to its moves; a king may be missing. Raises
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
    """What could have been played instead."""

    first: int
    """The number of its first move; those before it are the game's, or an earlier variation's."""
    moves: tuple[int, ...]
    """All 16-bit moves from the game's first position on."""
    comments: Mapping[int, list[str]]
    """As a game's."""


def read_variations(game: Game) -> tuple[list[Variation], GameError | None]:
    """A game's variations, in their order. Each leaves what stands before it, the main line or another variation, as
    Kifu for Windows writes them. So they end before the first that cannot be read, and what is wrong with it is told
    beside them."""
    found: list[Variation] = []
    before = tuple(game.moves.tolist())
    for block in re.split(r"^変化[：:]\s*", game.variations, flags=re.MULTILINE)[1:]:
        head, *lines = block.split("\n")
        place = f"{game.place}, variation {len(found) + 1}"
        number = re.match(r"([0-9]{1,6})手", head)
        first = int(number[1]) if number else 0
        if not 1 <= first <= len(before) + 1:
            error = GameError(f"{place}: cannot read 変化：{quoted(head, 20)}; correct the line, or take it out")
            return found, error
        try:
            builder = _read_variation(place, game.start_sfen, before[: first - 1], lines)
        except GameError as error:
            return found, GameError(f"{place}: {error}", error.reason)
        before = tuple(builder.moves)
        found.append(Variation(first, before, builder.comments))
    return found, None


def _read_variation(place: str, start_sfen: str, before: tuple[int, ...], lines: list[str]) -> GameBuilder:
    """What stands there after the moves before it and a variation's own lines."""
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
    """One numbered line; True if it ends the game."""
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
        # A kind that is in no hand is no move at all.
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
    """`( 0:05/00:00:12)` -> milliseconds of the move."""
    match = _CLOCK.search(text)
    if match is None:
        return None
    hours, minutes, seconds = match.groups()
    return round(1000 * (3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)))
