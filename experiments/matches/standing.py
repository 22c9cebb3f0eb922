"""The standing of a match: pairs of games counted in the order of their numbers, until a test has decided.

Games come back in the order in which they end, and short ones first: a test that counted them as they come would favour
the results of short games. So a pair counts when all pairs before it are there, and the count does not depend on the
number of games at a time. Pairs after the one that decided the test are kept and not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.elo.sprt import Sprt
from experiments.elo.strength import Strength, elo_text, measure_strength
from experiments.games.player import ENDINGS
from experiments.jobs.totals_text import called_text
from experiments.matches.pair import COLOURS, OUTCOMES, UNEVEN

_POINTS = {name: points for points, name in OUTCOMES.items()}


@dataclass(frozen=True)
class Tally:
    """Results of a player's games."""

    wins: int
    draws: int
    losses: int


@dataclass(frozen=True)
class SprtReport:
    """State of a sequential probability ratio test."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    llr: float
    """Log-likelihood ratio of elo1 to elo0."""
    lower: float
    """Log-likelihood ratio at which elo0 is accepted."""
    upper: float
    """Log-likelihood ratio at which elo1 is accepted."""
    verdict: str
    """`elo0`, `elo1`, or empty while the test is not decided."""


@dataclass(frozen=True, kw_only=True)
class StandingReport:
    """Figures of the games that count, from the first player's view. An Elo of None is infinite or unknown."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    """Points of the first player: 1 for a win, 1/2 for a draw."""
    pentanomial: tuple[int, ...]
    """Pairs of games with 0, 1/2, 1, 1 1/2 and 2 points."""
    elo: float | None
    """Logistic Elo difference."""
    elo_low: float | None
    """Lower end of the 95 % interval of `elo`."""
    elo_high: float | None
    """Upper end of the 95 % interval of `elo`."""
    as_black: Tally
    as_white: Tally
    black_share: float
    """Points per game of the black side, whichever player has it, 0 to 1."""
    black_elo: float | None
    """Elo advantage of the black side."""
    black_elo_low: float | None
    black_elo_high: float | None
    endings: dict[str, int]
    """Number of games by their ending."""
    positions: int
    """Number of moves that were searched."""
    nodes_per_move: float
    """Mean nodes per move."""
    nodes_of_first: int
    nodes_of_second: int
    nodes_per_second: int
    """Nodes per second of CPU time."""
    called_and_played_out: int
    """Number of games that the scores would have ended and that were played to their end."""
    called_wrongly: int
    """Number of games in `called_and_played_out` that ended otherwise than the scores said."""
    games_beyond: int
    """Number of games in the folder that are not counted."""
    sprt: SprtReport | None
    """State of the test, if the match has one."""
    remarks: tuple[str, ...]
    """Lines for readers."""


class Standing:
    """The referee of a match of `pairs` pairs."""

    def __init__(self, pairs: int, sprt: Sprt | None = None) -> None:
        self.total = None if sprt else 2 * pairs
        """Number of games; None where a test may end the match."""
        self.verdict = ""
        """The test's verdict, see `Sprt.verdict`."""
        self.pentanomial = [0] * 5
        """Pairs in which the first player has 0, 1/2, 1, 1 1/2 and 2 points."""
        self.counts: Counter[str] = Counter()
        """Sums over the pairs that count."""
        self.beyond = 0
        """Pairs after the decision of the test, or beyond the requested number."""
        self._pairs, self._sprt = pairs, sprt
        self._waiting: dict[int, Mapping[str, int | float]] = {}
        self._blacks: list[tuple[float, int]] = []

    def see(self, number: int, counts: Mapping[str, int | float]) -> None:
        """Take note of a pair. Raises ValueError for counts that no pair has."""
        if self.verdict or number >= self._pairs:
            self.beyond += 1
            return
        self._waiting[number] = counts
        while not self.verdict and (ready := self._waiting.pop(len(self._blacks), None)) is not None:
            self._count(ready)
        if self.verdict:
            self.beyond += len(self._waiting)

    def _count(self, counts: Mapping[str, int | float]) -> None:
        black, white = (side_points(counts, colour) for colour in COLOURS.values())
        if {black, white} - OUTCOMES.keys():
            raise ValueError(f"no points of two games: {black:g} and {white:g}")
        self.counts.update(counts)  # type: ignore[arg-type]  # seconds are a fraction
        self.pentanomial[int(2 * (black + white))] += 1
        self._blacks.append((black + 1 - white, 2))
        if self._sprt is not None:
            self.verdict = self._sprt.verdict(self.pentanomial)

    def has_enough(self) -> bool:
        """Return whether the test is decided."""
        return bool(self.verdict)

    def strength(self) -> Strength:
        """Return the first player's strength."""
        return measure_strength([(half / 2, 2) for half, pairs in enumerate(self.pentanomial) for _ in range(pairs)])

    def measure(self) -> tuple[int, str]:
        """Return (games that count, text on their standing) for the progress line."""
        games, strength = 2 * len(self._blacks), self.strength()
        of = f"{'at most ' if self._sprt else ''}{2 * self._pairs:,}"
        words = f"{games:,} of {of} games, {elo_text(strength.elo, strength.low, strength.high)}"
        if self._sprt is not None:
            words += (
                f", LLR {self._sprt.ratio(self.pentanomial):.2f} ({self._sprt.lower:.2f} to {self._sprt.upper:.2f})"
            )
        return games, words

    def report(self) -> StandingReport:
        """Return all figures of the games that count; Elo by `measure_strength`, from the first player's view."""
        counts, strength = self.counts, self.strength()
        black = measure_strength(self._blacks)
        games = 2 * len(self._blacks)
        as_black, as_white = (
            Tally(*(int(counts[f"{name} as {colour}"]) for name in _POINTS)) for colour in COLOURS.values()
        )
        wins, draws, losses = (
            getattr(as_black, name) + getattr(as_white, name) for name in ("wins", "draws", "losses")
        )
        return StandingReport(
            games=games,
            wins=wins,
            draws=draws,
            losses=losses,
            points=wins + draws / 2,
            pentanomial=tuple(self.pentanomial),
            elo=strength.elo,
            elo_low=strength.low,
            elo_high=strength.high,
            as_black=as_black,
            as_white=as_white,
            black_share=sum(points for points, _ in self._blacks) / max(games, 1),
            black_elo=black.elo,
            black_elo_low=black.low,
            black_elo_high=black.high,
            endings={
                ending: int(counts[f"ended by {ending}"])
                for ending in sorted(ENDINGS, key=lambda ending: -counts[f"ended by {ending}"])
                if counts[f"ended by {ending}"]
            },
            positions=counts["positions"],
            nodes_per_move=counts["nodes"] / max(counts["positions"], 1),
            nodes_of_first=counts["nodes of first"],
            nodes_of_second=counts["nodes of second"],
            nodes_per_second=round(counts["nodes"] / max(counts["seconds"], 1e-9)),
            called_and_played_out=counts["called and played out"],
            called_wrongly=counts["called wrongly"],
            games_beyond=2 * self.beyond,
            sprt=None if self._sprt is None else self._test(self._sprt),
            remarks=self._remarks(),
        )

    def _test(self, sprt: Sprt) -> SprtReport:
        ratio = sprt.ratio(self.pentanomial)
        bounds = {"llr": ratio, "lower": sprt.lower, "upper": sprt.upper}
        return SprtReport(sprt.elo0, sprt.elo1, sprt.alpha, sprt.beta, **bounds, verdict=self.verdict)

    def _remarks(self) -> tuple[str, ...]:
        counts, remarks = self.counts, []
        if calls := called_text(counts):
            remarks.append(calls)
        if uneven := counts[UNEVEN]:
            remarks.append(f"pairs without an opening within the balance, which began from the most even one: {uneven}")
        if self.verdict:
            remarks.append("the test ended the match, so its Elo is biased toward the side of the verdict")
        if self.beyond:
            remarks.append(f"{2 * self.beyond} more games are in the folder and are not counted")
        return tuple(remarks)


def side_points(counts: Mapping[str, int | float], colour: str) -> float:
    """Return the first player's points with a colour, of a pair's counts."""
    return sum(counts.get(f"{name} as {colour}", 0) * points for name, points in _POINTS.items())
