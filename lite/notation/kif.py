"""Read KIF game records, with the scores that ShogiGUI and ShogiHome write into comments.

cshogi's parser is only the oracle of the tests: it skips lines that it cannot read and plays on, which gives a shorter
or another game, and it does not read board diagrams.

A game is read only if its parts agree: the number of the ending follows that of the last move, and the verdict below
(`まで49手で先手の勝ち`) has the same number of moves and the same winner. So a file that lost a line is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lite.amounts import amount
from lite.notation.game import Game, GameBuilder, GameError, quoted
from lite.notation.kif_endings import read_bare_ending, read_ending
from lite.notation.kif_lines import (
    MARK,
    MOVE_LINE,
    PIECE_SIGNS,
    PIECES,
    SQUARE,
    Reader,
    abbreviated,
    begins_variation,
    is_ki2,
    plain_lines,
    variation_number,
)
from lite.notation.numbers import half_width
from search.rules.shogi import DROP_ORIGIN, HAND_KINDS, KINDS, NO_MOVE, PROMOTE

_MOVE = re.compile(
    rf"({SQUARE}|同)\s*({PIECE_SIGNS})\s*"
    r"(?:打(?:[(（][0０]{2}[)）])?|(?:(成)|不成|生)?\s*[(（]([1-9１-９])([1-9１-９])[)）])(.*)"
)
_TIME = r"(?:[\s0-9.-]*[:/時分秒][\s0-9.:/時間分秒-]*|\s*)"
_AFTER_MOVE = re.compile(rf"[\s+]*(?:[(]{_TIME}[)]|{_TIME})[\s+]*([*].*)?")
"""What may follow a move in its line: a clock, the mark + of a variation, and a comment."""
_SECONDS = r"([0-9]{1,6}(?:\.[0-9]+)?)"
_CLOCK = re.compile(
    rf"(?:^|[\s(+])(?:(?:([0-9]{{1,4}}):)?([0-9]{{1,6}}):{_SECONDS}"
    rf"|(?=[0-9.]+[時分秒])(?:([0-9]{{1,4}})時間?)?(?:([0-9]{{1,6}})分)?(?:{_SECONDS}秒)?)(?=[\s/)+*]|$)"
)
"""The time of a move: `( 0:05/00:00:12)`, `0:05` or `(1時間2分5秒)`."""


def read_kif(text: str, place: str, unfinished: bool = False) -> Game:
    """Return the game of a KIF text: the main line, and its variations as written. Raises GameError."""
    reader = Reader(place, unfinished)
    try:
        _read_lines(reader, plain_lines(text))
        return reader.finish()
    except GameError as error:
        raise reader.explained(error) from None


def _read_lines(reader: Reader, lines: list[str]) -> None:
    """Read the lines of a KIF text. Raises GameError."""
    for index, line in enumerate(lines):
        if not line:
            continue
        reader.line = index + 1
        if begins_variation(line) and reader.builder is not None:
            # The main line is complete.
            reader.builder.variations = "\n".join(_renumbered(lines[index:], reader.numbered_from)).rstrip("\n")
            break
        if match := MOVE_LINE.fullmatch(line):
            reader.begin_numbers(int(match.group(1)))
            _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line):
            reader.remark(line)


def _renumbered(lines: list[str], before: int) -> Iterator[str]:
    """Yield the lines of variations with numbers counted from the first move of the game. Those of each variation may
    include the `before` moves before a diagram."""
    extra = 0
    for line in lines:
        if (first := variation_number(line)) is not None:
            extra = before if first > before else 0
        if not extra:
            yield line
        elif first is not None:
            yield f"変化：{first - extra}手"
        else:
            match = MOVE_LINE.fullmatch(line)
            yield f"{int(match[1]) - extra:4d} {match[2]}" if match and int(match[1]) > extra else line


def read_start(text: str) -> str:
    """Return the SFEN of a KIF or KI2 text's first position; moves are ignored, and a king may be missing. Raises
    GameError."""
    reader = Reader("", unfinished=True)
    for reader.line, line in enumerate(map(str.strip, plain_lines(text)), 1):
        if not line:
            continue
        if line.startswith("手数--") or MOVE_LINE.fullmatch(line) or is_ki2(line):
            break
        if read_bare_ending(line, reader.names()) is not None:
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
    """Return a game's variations in order, as far as they can be read, and the first error in them, or None.

    Each variation branches from the line before it, the main line or another variation, as in Kifu for Windows. So
    variations that branch below a move that cannot be read are not returned."""
    found: list[Variation] = []
    first_error = None
    before = tuple(game.moves.tolist())
    for number, block in enumerate(re.split(r"^(?=[ 　]*変化)", game.variations, flags=re.MULTILINE)[1:], 1):
        builder = GameBuilder(f"{game.place}, variation {number}", game.start_sfen, japanese=True)
        head, *lines = block.split("\n")
        first = variation_number(head) or 0
        try:
            _require_branch(head, len(before))
            _read_variation(builder, before[: first - 1], lines)
        except GameError as error:
            first_error = first_error or GameError(f"{builder.place}: {error}", error.reason)
        if first > len(before) + 1:
            continue  # below the moves of the line above that can be read, so `before` is the start of this line, too
        before = tuple(builder.moves)
        if len(before) >= first > 0:
            found.append(Variation(first, before, builder.comments))
    return found, first_error


def _require_branch(head: str, moves: int) -> None:
    """Raise GameError unless a variation with this first line can branch from a line of so many moves."""
    first = variation_number(head)
    if first is None:
        raise GameError(f"cannot read {quoted(head, 20)}; correct the line or remove it")
    if not 1 <= first <= moves + 1:
        raise GameError(
            f"begins at move {first} of the game, but the line that it branches from has {amount(moves, 'move')}; "
            "correct the number or remove it"
        )


def _read_variation(builder: GameBuilder, before: tuple[int, ...], lines: list[str]) -> None:
    """Replay the moves before a variation, then its own lines. Raises GameError; the builder has the moves up to it."""
    reader = Reader(builder.place, unfinished=True)
    reader.builder = builder
    for move in before:
        builder.play(move)
    for line in filter(None, lines):
        if match := MOVE_LINE.fullmatch(line):
            _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line):
            reader.remark(line)
        if reader.ending is not None:
            break
    if builder.plies_recorded > len(builder.moves):
        reader.finish()  # an illegal move must be the end of the variation


def _kif_line(reader: Reader, number: int, text: str) -> None:
    """Read a numbered line: a move or an ending."""
    builder, text = reader.start(), text[1:] if MARK.match(text) else text
    match = _MOVE.match(abbreviated(text))
    if match is None and (ending := read_ending(text, reader.names())):
        reader.end(ending, number, _clock(text))
        return
    reader.refuse_after_ending(text)
    builder.refuse_more()
    if number != len(builder.moves) + reader.numbered_from + 1:
        raise reader.error(f"the number is {number}, but the next move is {builder.next_move()}")
    if match is None:
        raise reader.error(f"cannot read {quoted(text, 20)} as {builder.next_move()}")
    where, sign, promotion, file, rank, rest = match.groups()
    kind, move, written = PIECES[sign], reader.target(where), match.string[: match.start(6)].rstrip(" 　")
    after = _AFTER_MOVE.fullmatch(half_width(rest))
    if after is None:
        raise reader.error(
            f"cannot read {quoted(rest.strip(), 20)} after {builder.next_move(written)}; only a clock, + or a comment "
            "with * may follow a move"
        )
    if file is None:
        # A kind that cannot be in hand gives no move at all.
        builder.play(move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else NO_MOVE, written, reader.line)
    else:
        origin = (int(file) - 1) * 9 + int(rank) - 1
        if int(builder.pos["board"][origin]) != builder.turn * KINDS + kind:
            raise reader.error(f"{builder.next_move(written)}: no such piece stands on the square of origin")
        builder.play(move | origin << 7 | (PROMOTE if promotion else 0), written, reader.line)
    if (took := _clock(rest[: after.start(1)] if after[1] else rest)) is not None:
        builder.time_of_last(took)
    if after[1]:
        reader.other_line(rest[after.start(1) :])


def _clock(text: str | None) -> int | None:
    """Return the milliseconds of the move from a clock such as `( 0:05/00:00:12)`; None if there is no clock."""
    match = _CLOCK.search(half_width(text or ""))
    if match is None:
        return None
    hours, minutes, seconds = (float(match[unit] or match[unit + 3] or 0) for unit in (1, 2, 3))
    return round(1000 * (3600 * hours + 60 * minutes + seconds))
