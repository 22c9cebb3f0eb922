"""The clocks of a game on a server, and the times that an engine receives."""

from __future__ import annotations

from dataclasses import dataclass

UNLIMITED_MOVE = 10_000
"""Milliseconds per move in a game without a time limit."""


@dataclass(frozen=True)
class TimeControl:
    """The time control of a side, in milliseconds."""

    total: int | None = None
    """Milliseconds for the whole game; None means unlimited."""
    byoyomi: int = 0
    """Milliseconds for each move once the other time is used up."""
    increment: int = 0
    """Milliseconds that are added before each move, and may be saved."""
    delay: int = 0
    """Milliseconds of each move that do not count, and cannot be saved."""

    @property
    def text(self) -> str:
        """The time control for readers, in seconds: `300`, `300+10F`, `300+10`."""
        if self.total is None:
            return "unlimited"
        rest = f"+{self.byoyomi / 1000:g}" if self.byoyomi else ""
        rest += f"+{self.increment / 1000:g}F" if self.increment else ""
        return f"{self.total / 1000:g}{rest}" + (f"+{self.delay / 1000:g}D" if self.delay else "")


class GameClock:
    """The time left of black and white, without the increment of the move under way."""

    def __init__(self, controls: tuple[TimeControl, TimeControl]) -> None:
        self._controls = controls
        self.left = [control.total or 0 for control in controls]

    def spend(self, colour: int, milliseconds: int) -> None:
        """Subtract the time of a move, and add its increment."""
        control = self._controls[colour]
        left = self.left[colour] + control.increment - max(0, milliseconds - control.delay)
        self.left[colour] = max(0, left)

    def limits(self, colour: int, margin: int) -> str:
        """Return the words after `go` for the side `colour`, with its time reduced by `margin` milliseconds.

        The increment is added before the move, so that it can be used in it; USI engines expect `btime` without it. USI
        has no word for a delay: engines receive it as an increment, which is right for the move under way.
        """
        control = self._controls[colour]
        if control.total is None:
            return f"byoyomi {UNLIMITED_MOVE}"
        times = (self.left[colour], control.byoyomi, control.increment + control.delay)
        own, byoyomi, increment = _reduced(times, margin)
        other = self._controls[1 - colour]
        left, increments = [0, 0], [0, 0]
        left[colour], left[1 - colour] = own, self.left[1 - colour]
        increments[colour], increments[1 - colour] = increment, other.increment + other.delay
        words = [f"btime {left[0]} wtime {left[1]}"]
        if byoyomi or not any(increments):
            words.append(f"byoyomi {byoyomi}")
        if any(increments):
            words.append(f"binc {increments[0]} winc {increments[1]}")
        return " ".join(words)


def _reduced(times: tuple[int, int, int], margin: int) -> tuple[int, ...]:
    """Return time left, byoyomi and increment with together `margin` less, but at least half of them left."""
    keep = min(margin, sum(times) // 2)
    found = []
    for time in times:
        found.append(max(0, time - keep))
        keep -= time - found[-1]
    return tuple(found)
