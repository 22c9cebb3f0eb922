"""How long to think: from the clocks of a `go` command to an optimum and a maximum in milliseconds.

The optimum is where an iteration that would begin is not begun; the maximum is where the search is stopped. Both leave
`NetworkDelay` for the way to the server: the ordinary delay where time is only spent, the larger `NetworkDelay2` where
overstepping it would lose the game (byoyomi, or a clock about to run out).
"""

from __future__ import annotations

from dataclasses import dataclass

MOVES_PLANNED = 60
"""Moves of a player that a game is expected to have, at its start."""
FEWEST_MOVES_LEFT = 24
OPENING_SHARE = 0.85
LEAST = 1


@dataclass(frozen=True)
class Limits:
    """What `go` said; times in milliseconds, None where it said nothing."""

    btime: int | None = None
    wtime: int | None = None
    byoyomi: int = 0
    binc: int = 0
    winc: int = 0
    movetime: int | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False
    ponder: bool = False
    mate: int | None = None
    """Milliseconds for a mate search, -1 for no limit; None for an ordinary search."""
    searchmoves: tuple[str, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether clocks bound this search."""
        if self.infinite or self.movetime is not None:
            return self.movetime is not None
        return self.btime is not None or self.wtime is not None or self.byoyomi > 0


@dataclass(frozen=True)
class Margins:
    """Options that the clock obeys, milliseconds."""

    network_delay: int = 120
    network_delay_2: int = 1120
    minimum_thinking_time: int = 0


@dataclass(frozen=True)
class Budget:
    """Milliseconds from the `go`: begin no iteration after `optimum`, stop at `maximum`."""

    optimum: int
    maximum: int


def plan(limits: Limits, colour: int, game_ply: int, margins: Margins) -> Budget | None:
    """The budget of a move for the side `colour` (0 black) at move number `game_ply`; None if no clock bounds it."""
    if not limits.timed:
        return None
    if limits.movetime is not None:
        # A study's "so long": nothing is lost by overstepping, so it is used in full.
        whole = max(LEAST, limits.movetime)
        return Budget(whole, whole)
    left = (limits.btime if colour == 0 else limits.wtime) or 0
    increment = limits.binc if colour == 0 else limits.winc
    free = limits.byoyomi + increment
    # What may be used at most without losing on time: everything, less the way to the server.
    hard = (
        left
        + free
        - (margins.network_delay_2 if left + free > 2 * margins.network_delay_2 else _tight(margins, left + free))
    )
    hard = max(LEAST, hard)
    moves_left = max(FEWEST_MOVES_LEFT, MOVES_PLANNED - game_ply // 2)
    share = left / moves_left + free * OPENING_SHARE
    if left < 2 * limits.byoyomi:
        # On byoyomi what is not used is lost: use it whole.
        share = max(share, limits.byoyomi + left / 4)
    optimum = max(share - margins.network_delay, margins.minimum_thinking_time - margins.network_delay)
    spread = 3.0 if left > 4 * limits.byoyomi else 1.0
    maximum = min(hard, max(optimum * spread, limits.byoyomi * OPENING_SHARE if left else 0))
    maximum = max(maximum, min(hard, margins.minimum_thinking_time))
    maximum = max(LEAST, int(maximum))
    return Budget(max(LEAST, min(int(optimum), maximum)), maximum)


def _tight(margins: Margins, available: int) -> int:
    """The delay to allow for when the time is hardly longer than the usual one: a share of what there is."""
    return min(margins.network_delay_2, max(available // 5, min(margins.network_delay, available // 2)))
