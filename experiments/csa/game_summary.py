"""The summary by which a server proposes a game: players, clocks, position. Everything in it is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from experiments.csa.clock import TimeControl
from experiments.csa.events import ServerError
from lite.notation.csa import start_sfen
from lite.notation.csa_moves import read_csa_move
from lite.notation.game import GameBuilder, GameError

BEGIN, END = "BEGIN Game_Summary", "END Game_Summary"
MOST_LINES = 2000
"""Most lines of a summary; a resumed game has a line for each move."""
_LONGEST_NAME = 100
_BLOCKS = ("Time", "Time+", "Time-", "Position")
_UNIT = re.compile(r"([0-9]{1,6})(msec|sec|min)")
_UNITS = {"msec": 1, "sec": 1000, "min": 60_000}
_NUMBER = re.compile(r"[0-9]{1,8}")
_TIMED_MOVE = re.compile(r"([+-][0-9]{4}[A-Z]{2})(?:,T([0-9]{1,8}(?:\.[0-9]{1,3})?))?")
_TIMES = ("Total_Time", "Byoyomi", "Increment", "Delay")


@dataclass(frozen=True)
class Summary:
    """A proposed game."""

    game_id: str
    names: tuple[str, str]
    """Names of black and white."""
    colour: int
    """Own colour: 0 is black."""
    start_sfen: str
    moves: tuple[tuple[str, int], ...]
    """Moves already played, in CSA notation, with their times in milliseconds."""
    controls: tuple[TimeControl, TimeControl]
    """Time controls of black and white."""
    max_moves: int = 0
    """Number of moves at which the game is drawn; 0 means no limit."""


def read_timed_move(line: str) -> tuple[str, int]:
    """Return the move and milliseconds of a line `+7776FU,T12`; a comment after them is ignored. Raises ServerError.

    Times are seconds whatever the unit of the clocks, as in CSA records.
    """
    match = _TIMED_MOVE.fullmatch(line.partition(",'")[0])
    if match is None:
        raise ServerError(line, "not a move with its time")
    return match[1], round(1000 * float(match[2] or 0))


@dataclass
class _Reader:
    fields: dict[str, str] = field(default_factory=dict)
    times: dict[str, dict[str, str]] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    moves: list[tuple[str, int]] = field(default_factory=list)
    block: str = ""

    def line(self, line: str) -> None:
        word, _, name = line.partition(" ")
        if word in ("BEGIN", "END") and name in _BLOCKS:
            if (word == "BEGIN") == bool(self.block) or (word == "END" and name != self.block):
                raise ServerError(line, "a block of the game summary inside another one")
            self.block = name if word == "BEGIN" else ""
        elif self.block == "Position":
            self._position(line)
        else:
            key, colon, value = line.partition(":")
            if not colon:
                raise ServerError(line, "not a field of a game summary")
            (self.times.setdefault(self.block, {}) if self.block else self.fields)[key] = value.strip()

    def _position(self, line: str) -> None:
        if self.setup and self.setup[-1] in ("+", "-"):
            self.moves.append(read_timed_move(line))
        elif line[:1] == "P" or line in ("+", "-"):
            self.setup.append(line)
        else:
            raise ServerError(line, "not a line of a position")


def read_summary(lines: list[str]) -> Summary:
    """Read the lines between `BEGIN Game_Summary` and `END Game_Summary`. Raises ServerError."""
    reader = _Reader()
    for line in lines:
        reader.line(line)
    if not reader.setup or reader.setup[-1] not in ("+", "-"):
        raise ServerError(END, "the game summary has no position with a side to move")
    fields = reader.fields
    try:
        start = start_sfen(reader.setup)
        builder = GameBuilder("the game summary", start)
        for text, _ in reader.moves:
            builder.play(read_csa_move(text, builder), text)
            builder.refuse_more()
    except GameError as error:
        raise ServerError("BEGIN Position", str(error)) from None
    turn = fields.get("Your_Turn", "")
    if turn not in ("+", "-"):
        raise ServerError(f"Your_Turn:{turn}", "must be + or -")
    names = tuple(fields.get(f"Name{sign}", "")[:_LONGEST_NAME] for sign in "+-")
    return Summary(
        fields.get("Game_ID", ""),
        (names[0], names[1]),
        "+-".index(turn),
        start,
        tuple(reader.moves),
        (_control(reader.times, "+"), _control(reader.times, "-")),
        _number(fields, "Max_Moves") or 0,
    )


def _control(times: dict[str, dict[str, str]], sign: str) -> TimeControl:
    """Return the time control of a side: the common block, and the side's own."""
    fields = times.get("Time", {}) | times.get(f"Time{sign}", {})
    text = fields.get("Time_Unit", "1sec")
    match = _UNIT.fullmatch(text)
    if match is None or not int(match[1]):
        raise ServerError(f"Time_Unit:{text}", "must be a number of msec, sec or min")
    unit = int(match[1]) * _UNITS[match[2]]
    total, byoyomi, increment, delay = (_number(fields, name) for name in _TIMES)
    if total is None and not (byoyomi or increment or delay):
        return TimeControl()
    return TimeControl(*((number or 0) * unit for number in (total, byoyomi, increment, delay)))


def _number(fields: dict[str, str], name: str) -> int | None:
    text = fields.get(name)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise ServerError(f"{name}:{text[:80]}", "must be a whole number")
    return int(text)
