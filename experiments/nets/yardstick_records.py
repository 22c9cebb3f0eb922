"""A yardstick: held-out positions with the scores of long searches, on which d1-RMSE is measured.

Half of the positions were played, half have random moves played on. Their scores are those of one engine, so d1-RMSE
favours networks that score as that engine does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, Labelling, expand
from experiments.jobs.workforce import Workforce
from lite.records.reader import Reader
from search.system.bounds import check_numbers

SEED = 77
"""Seed of the choice of positions: equal commands make equal yardsticks."""


@dataclass(frozen=True)
class Yardstick:
    """Options of a yardstick."""

    data: tuple[Path, ...]
    """Held-out games, which no network that is measured has learnt from: hcpe3, hcpe or psv files."""
    output: Path = Path("yard")
    """Folder of the positions. The same command resumes an interrupted run."""
    positions: int = 20_000
    """Number of positions, about; their standard error of d1-RMSE is about 0.0012."""
    net: str = "default"
    """The network that searches: a file, or `default`."""
    nodes: int = 10_000
    """Nodes of each search."""
    engine: str = ""
    """Command of a USI engine that searches instead of this one."""
    engine_option: tuple[str, ...] = ()
    """NAME=VALUE options of that engine."""
    workforce: Workforce = field(default_factory=Workforce)


@dataclass(frozen=True)
class YardstickReport:
    """The contents of a yardstick."""

    folder: str
    positions: int
    labelled_by: str
    """The network or engine whose searches gave the scores, and which d1-RMSE favours."""
    nodes: int


def make_yardstick(options: Yardstick) -> YardstickReport:
    """Make a yardstick. Raises OSError, ValueError or KeyboardInterrupt as `expand` does."""
    check_numbers(options, "positions", "nodes")
    recorded = Reader(options.data, 1, shuffle=False).positions
    share = min(1.0, options.positions / (2 * max(recorded, 1)))
    labels = Labelling(
        "engine" if options.engine else "search",
        options.net,
        nodes=options.nodes,
        engine=options.engine,
        engine_option=options.engine_option,
    )
    mixture = Mixture(played=share, random=share)
    made = expand(Expansion(options.data, options.output, labels, SEED, options.workforce, mixture, options.net))
    return YardstickReport(
        str(options.output), int(made.count("positions")), options.engine or options.net, options.nodes
    )
