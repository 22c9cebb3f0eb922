"""`liteshogi perft`: count sequences of legal moves, or measure the speed of counting them."""

from __future__ import annotations

from dataclasses import dataclass

import tyro

from lite.amounts import amount
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.rules.perft import measure_perft, timed_perft
from search.system.bounds import check_unused


@dataclass(frozen=True)
class Counted:
    """Number of sequences of legal moves."""

    nodes: int
    """Number of sequences."""
    seconds: float
    """Seconds of the count."""
    divide: dict[str, int] | None = None
    """Number of sequences by first move; only with `--divide`."""


@dataclass(frozen=True)
class Command:
    """Count the sequences of legal moves from a position, or measure the speed of counting them."""

    position: tyro.conf.Positional[str] = "startpos"
    """Position in quotes: an SFEN or `startpos`, optionally with `moves 7g7f ...`."""
    depth: tyro.conf.Positional[int] = 4
    """Number of moves per sequence."""
    divide: bool = False
    """Print the count for each first move."""
    bench: bool = False
    """Measure leaves per second on one core instead: the median of five runs on three positions."""
    json: Json = False

    def run(self) -> None:
        if self.bench:
            self._bench()
            return
        nodes, seconds, below = timed_perft(self.position, self.depth, self.divide)
        if self.json:
            print(json_text(Counted(nodes, round(seconds, 6), below or None)))
            return
        for move, count in below.items():
            print(f"{move}: {count}")
        print(f"{nodes} sequences of {amount(self.depth, 'move')} in {seconds:.2f} s")

    def _bench(self) -> None:
        """Print the speeds. Raises OptionError for options of a count."""
        check_unused(self, "bench", "position", "depth", "divide")
        speed = measure_perft()
        if self.json:
            print(json_text(speed))
            return
        print(f"sliders: {speed.sliders}; leaves per second on one core, median of 5")
        for name, rates in speed.positions.items():
            made, counted = rates.made_per_s / 1e6, rates.counted_per_s / 1e6
            print(f"{name:12s} played and undone {made:7.1f} M   counted {counted:7.1f} M")
