"""How a match stands: pairs of games counted in the order of their numbers, until a test has seen enough of them.

Games come back in the order in which they end, and short ones first: a test that looked at them as they come would see
more of the results that come soon. So a pair counts when all before it are there, and what is counted is the same
however many are played at a time. Pairs behind the one that decided are kept and count for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from experiments.elo.sprt import Sprt
from experiments.elo.strength import Strength, in_words, measure_strength
from experiments.games.player import ENDINGS
from experiments.matches.pair import COLOURS, OUTCOMES

_POINTS = {name: points for points, name in OUTCOMES.items()}


class Standing:
    """The referee of a match of so many pairs."""

    def __init__(self, pairs: int, sprt: Sprt | None = None) -> None:
        self.total = None if sprt else 2 * pairs
        """Games, where it is known how many."""
        self.verdict = ""
        """See `Sprt.verdict`."""
        self.pentanomial = [0] * 5
        """Pairs in which the first player has had 0, 1/2, 1, 1 1/2 and 2 points."""
        self.counts: Counter[str] = Counter()
        """Sums over the pairs that count."""
        self.beyond = 0
        """Pairs that came after the test was decided, or that were not asked for."""
        self._pairs, self._sprt = pairs, sprt
        self._waiting: dict[int, Mapping[str, int | float]] = {}
        self._blacks: list[tuple[float, int]] = []

    def see(self, number: int, counts: Mapping[str, int | float]) -> None:
        """A pair has landed. ValueError for counts that are no pair's."""
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
        """Whether the test is decided."""
        return bool(self.verdict)

    def strength(self) -> Strength:
        """The first player's."""
        return measure_strength([(half / 2, 2) for half, pairs in enumerate(self.pentanomial) for _ in range(pairs)])

    def measure(self) -> tuple[int, str]:
        """Games that count, and how they stand in words."""
        games, strength = 2 * len(self._blacks), self.strength()
        of = f"{'at most ' if self._sprt else ''}{2 * self._pairs:,}"
        words = f"{games:,} of {of} games, {in_words(strength.elo, strength.low, strength.high)}"
        if self._sprt is not None:
            words += (
                f", LLR {self._sprt.ratio(self.pentanomial):.2f} ({self._sprt.lower:.2f} to {self._sprt.upper:.2f})"
            )
        return games, words

    def report(self) -> dict[str, Any]:
        """What there is to say of the games that count; Elo by `measure_strength`, in the first player's view."""
        counts, strength = self.counts, self.strength()
        black = measure_strength(self._blacks)
        games = 2 * len(self._blacks)
        sides = {colour: {name: counts[f"{name} as {colour}"] for name in _POINTS} for colour in COLOURS.values()}
        sums = {name: sum(side[name] for side in sides.values()) for name in _POINTS}
        report: dict[str, Any] = {
            "games": games,
            **sums,
            "points": sum(sums[name] * points for name, points in _POINTS.items()),
            "pentanomial": list(self.pentanomial),
            "elo": strength.elo,
            "elo_low": strength.low,
            "elo_high": strength.high,
            "as_black": sides["black"],
            "as_white": sides["white"],
            "black_share": sum(points for points, _ in self._blacks) / max(games, 1),
            "black_elo": black.elo,
            "black_elo_low": black.low,
            "black_elo_high": black.high,
            "endings": {
                ending: counts[f"ended by {ending}"]
                for ending in sorted(ENDINGS, key=lambda ending: -counts[f"ended by {ending}"])
                if counts[f"ended by {ending}"]
            },
            "positions": counts["positions"],
            "nodes_a_move": counts["nodes"] / max(counts["positions"], 1),
            "nodes_of_first": counts["nodes of first"],
            "nodes_of_second": counts["nodes of second"],
            "nodes_per_second": round(counts["nodes"] / max(counts["seconds"], 1e-9)),
            "called_and_played_out": counts["called and played out"],
            "called_wrongly": counts["called wrongly"],
            "games_beyond": 2 * self.beyond,
        }
        if self._sprt is not None:
            report["sprt"] = {
                "elo0": self._sprt.elo0,
                "elo1": self._sprt.elo1,
                "alpha": self._sprt.alpha,
                "beta": self._sprt.beta,
                "llr": self._sprt.ratio(self.pentanomial),
                "lower": self._sprt.lower,
                "upper": self._sprt.upper,
                "verdict": self.verdict,
            }
        report["remarks"] = self._remarks()
        return report

    def _remarks(self) -> list[str]:
        counts, remarks = self.counts, []
        if called := counts["called and played out"]:
            wrong = counts["called wrongly"] / called
            error = (wrong * (1 - wrong) / called) ** 0.5
            remarks.append(
                f"of {called} games that the scores would have ended {wrong:.2%} +- {error:.2%} ended otherwise"
            )
        if self.verdict:
            remarks.append("the test ended the match, so its Elo leans toward the side of the verdict")
        if self.beyond:
            remarks.append(f"{2 * self.beyond} games more are in the folder and count for nothing")
        return remarks


def side_points(counts: Mapping[str, int | float], colour: str) -> float:
    """The first player's points with a colour."""
    return sum(counts.get(f"{name} as {colour}", 0) * points for name, points in _POINTS.items())
