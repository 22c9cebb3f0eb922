"""A yardstick: held-out positions with the scores of long searches, or with the results of their games.

Half of the positions with scores occurred in games, and half come after further random moves. d1-RMSE on them favours
networks that score as the searching engine does, less so if the searches of two networks are averaged. Results favour
no network, and are less informative per position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, expand
from experiments.factory.labelling import Labelling
from experiments.jobs.workforce import Workforce
from experiments.labels.yardstick_games import GAMES, write_games
from lite.records.formats import NO_GAME
from lite.records.reader import Reader
from search.system.bounds import check_numbers
from search.system.options import OptionError

SEED = 77
"""Seed of the choice of positions: equal commands make equal yardsticks."""


Truth = Literal["searches", "results"]


@dataclass(frozen=True)
class Yardstick:
    """Options of a yardstick."""

    data: tuple[Path, ...]
    """Held-out games, which no network that is measured has learnt from: hcpe, hcpe3, psv and pack files."""
    output: Path = Path("yard")
    """Folder of the positions. The same command resumes an interrupted run."""
    positions: int = 20_000
    """Approximate number of positions; the standard error of d1-RMSE of 20,000 is about 0.0012. Results need ten times
    as many, from far more games than there are positions per game, because positions of one game are similar."""
    truth: Truth = "searches"
    """Reference that networks are measured against. searches: the scores of long searches. results: the results of the
    recorded games, without any search."""
    net: str = "default"
    """The network that searches: a file, or the name of a shipped one."""
    second_net: str = ""
    """A second network that searches the same positions; the win rates of both searches are averaged."""
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
    """The networks or the engine whose searches gave the scores, and which d1-RMSE favours; empty for results."""
    nodes: int
    """Nodes of each search; 0 for results."""
    truth: Truth = "searches"
    """Reference that networks are measured against on it."""


def make_yardstick(options: Yardstick) -> YardstickReport:
    """Make a yardstick. Raises OSError, ValueError or KeyboardInterrupt as `expand` does."""
    check_numbers(options, "positions", "nodes")
    records = Reader(options.data, 8192, shuffle=False, pool_positions=8192)
    share = options.positions / max(records.positions, 1)
    if options.truth == "results":
        _check_no_search(options)
        if not any((batch.kind_of_result & NO_GAME == 0).any() for batch in records):
            raise OptionError(
                f"`data` {options.data[0]}: no position comes from a game, so there are no results; give games, or "
                "`truth` searches",
                "data",
                "truth",
            )
        labels, mixture = Labelling("result"), Mixture(played=min(1.0, share), random=0.0)
    else:
        labels = Labelling(
            "engine" if options.engine else "search",
            options.net,
            nodes=options.nodes,
            engine=options.engine,
            engine_option=options.engine_option,
            second_net=options.second_net,
        )
        mixture = Mixture(played=min(1.0, share / 2), random=min(1.0, share / 2))
    try:
        made = expand(Expansion(options.data, options.output, labels, SEED, options.workforce, mixture, options.net))
    except OptionError as error:
        if "output" not in error.fields or all(hasattr(options, name) for name in error.fields):
            raise
        # The folder's run differs in an option of `expand` that follows from these.
        raise OptionError(
            f"`output` {options.output}: holds a yardstick of another `truth`, another number of `positions`, or other "
            "games; give the same or choose another folder",
            "output",
            "truth",
            "positions",
        ) from None
    if not (options.output / GAMES).exists():
        write_games(options.output, options.data)
    folder, positions = str(options.output), int(made.count("positions"))
    if options.truth == "results":
        return YardstickReport(folder, positions, "", 0, options.truth)
    labelled_by = options.engine or " and ".join(filter(None, (options.net, options.second_net)))
    return YardstickReport(folder, positions, labelled_by, options.nodes)


def _check_no_search(options: Yardstick) -> None:
    """Raise OptionError for an option of searches."""
    for name in ("net", "second_net", "nodes", "engine", "engine_option"):
        value = getattr(options, name)
        if value != getattr(Yardstick, name):
            raise OptionError(f"`{name}` {value}: has no effect with `truth` results", name, "truth")
