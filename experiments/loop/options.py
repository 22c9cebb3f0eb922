"""Options of a loop."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from experiments.elo.sprt import Sprt
from experiments.factory.expand import Mixture
from experiments.factory.selfplay import SelfPlay
from experiments.games.openings import read_openings
from experiments.games.player import Ending, Variety
from experiments.jobs.workforce import Workforce
from experiments.labels.yardstick import check_scores
from experiments.matches.in_process_games import FROM_START, check_pairs
from experiments.matches.in_process_match import Match
from experiments.network_kinds.kind import Kind, kind_of, network_file_of
from lite.datasets.plan import flat
from lite.training.options import FREE_OPTIONS, ValueTraining
from search.evaluation.network_file import load_network
from search.evaluation.shipped import is_shipped
from search.system.bounds import MOST_AT_ONCE, check_numbers, check_share
from search.system.cores import usable_cores
from search.system.options import OptionError

MATERIAL = "material"
"""Name of the network that counts pieces, among the networks that a loop begins from or plays."""


@dataclass(frozen=True)
class Loop:
    """Options of a loop."""

    output: Path = Path("runs/loop")
    """Folder of the run and everything it makes; the same command resumes an interrupted run."""
    first: str = MATERIAL
    """The network that plays first: `material`, which only counts pieces, a shipped name, a folded network, an nn.bin,
    or a trained network, whose weights the first candidate begins with where the architecture is the same."""
    generations: int = 10
    """Generations to reach, counting those of earlier calls."""
    positions: int = 3_000_000
    """Positions of the games of each generation. From material alone, networks gain from three million and overfit on
    300,000 (docs/results/loop.md)."""
    nodes: int = 200
    """Nodes per move in these games."""
    openings: Path | None = None
    """File of openings for games and matches, one per line as an SFEN or `startpos moves ...`; without it, the start
    position."""
    random_plies: tuple[int, int] = (2, 12)
    """Random legal moves played after the opening: least and most."""
    variety: Variety = field(default_factory=lambda: Variety(soft_plies=16))
    ending: Ending = field(default_factory=lambda: Ending(win_score=2500))
    mixture: Mixture = field(default_factory=lambda: Mixture(random=1.0, tree=2.0))
    label: Literal["static", "quiescence", "search"] = "search"
    """Label of a position by the best network: its evaluation, its evaluation after exchanges are settled, or a
    search."""
    label_nodes: int = 200
    """Nodes of each labelling search."""
    held_out: float = 0.05
    """Positions of additional games that are held out from training, as a share of `positions`; losses are measured on
    them."""
    window: int = 3
    """Generations whose positions a candidate learns from: its own and those before."""
    keep: int | None = None
    """Generations whose games and positions stay on the disk, at least `window`; without it, all."""
    gate_nodes: int = 1000
    """Nodes per move in matches."""
    gate_games: int = 2000
    """Most games in which a candidate can prove better than the best network."""
    sprt: tuple[float, float] = (0.0, 20.0)
    """Two Elo differences: a candidate replaces the best network when its games favour the higher one."""
    against: tuple[str, ...] = ()
    """Networks that each new best one plays: files, shipped names, `material`."""
    against_games: int = 400
    """Games against each of these networks."""
    yardstick: tuple[Path, ...] = ()
    """Records with the scores of long searches, on which each candidate's d1-RMSE is measured."""
    seed: int = 1
    """Seed of everything random."""
    workers: int = field(default_factory=usable_cores)
    """Jobs at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs play and label instead, or `auto`. Its machines need LiteShogi installed."""

    def check(self) -> None:
        """Raise OptionError, ValueError or OSError for options and networks that cannot be used."""
        self.mixture.check()
        check_numbers(self, "generations", "positions", "nodes", "label_nodes", "window", "gate_nodes")
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        check_numbers(self, "seed", least=0, most=None)
        check_share("held_out", self.held_out)
        if self.keep is not None and self.keep < self.window:
            raise OptionError(f"`keep` {self.keep}: must be at least `window` {self.window}", "keep", "window")
        for name in ("gate_games", "against_games"):
            check_pairs(name, getattr(self, name))
        seed = self.game_seed(1)
        self.self_play(self.first, self.output, self.positions, seed).check()
        self.match(self.first, self.first, self.output, self.gate_games, seed, self.test()).check()
        if self.openings is not None:
            self._check_openings()
        if self.yardstick:
            check_scores(self.yardstick)
        for net in (self.first, *self.against):
            if net == MATERIAL:
                continue
            kind = kind_of(net)
            if kind is Kind.FOLDED:
                load_network(net)
            elif kind is not Kind.VALUE or net in self.against:
                raise ValueError(f"{net}: is {kind.value}, which does not play here; give a folded network")

    def _check_openings(self) -> None:
        """Raise OptionError or OSError if a generation's matches cannot be played from the openings, before any work.

        The number of repeated openings depends on the seed, so each generation's are drawn."""
        gate = self.match(self.first, self.first, self.output, self.gate_games, self.game_seed(1))
        lines = gate.distinct_openings()
        for name in ("gate_games", "against_games") if self.against else ("gate_games",):
            games = getattr(self, name)
            for generation in range(1, self.generations + 1):
                seed = self.game_seed(generation) + (name == "against_games")
                try:
                    self.match(self.first, self.first, self.output, games, seed).check_lines(lines)
                except OptionError as error:
                    raise OptionError(f"`{name}` {games}: {error}", name, *error.fields) from None

    def test(self) -> Sprt:
        """Return the test at the gate."""
        return Sprt(*self.sprt)

    def game_seed(self, generation: int) -> int:
        """Return the seed of a generation's games and gate; held-out games and other matches have the next one."""
        return 2 * (1000 * self.seed + generation)

    def self_play(self, network_path: str, output: Path, positions: int, seed: int) -> SelfPlay:
        """Return the options of a generation's games."""
        return SelfPlay(
            network_path,
            output,
            positions,
            self.nodes,
            openings=self.openings,
            random_plies=self.random_plies,
            variety=self.variety,
            ending=self.ending,
            seed=seed,
            workforce=self.workforce(),
        )

    def match(self, first: str, second: str, output: Path, games: int, seed: int, test: Sprt | None = None) -> Match:
        """Return the options of a generation's match."""
        return Match(
            first,
            second,
            nodes=self.gate_nodes,
            games=games,
            openings=self.openings,
            # From the start position, the default of a match: games differ by nothing else.
            random_plies=FROM_START if self.openings is None else self.random_plies,
            sprt=test,
            parallel=self.workers,
            ray=self.ray,
            seed=seed,
            output=output,
        )

    def file_of(self, network_path: str) -> str:
        """Return the file of a network that may be `material`, or a shipped name."""
        return str(self.output / "material.safetensors") if network_path == MATERIAL else network_path

    def workforce(self) -> Workforce:
        """Return the workers of games and labels, which make the same files regardless of interruptions."""
        return Workforce(self.workers, self.ray, in_order=True)

    def deciding(self, training: ValueTraining) -> Mapping[str, object]:
        """Return the options that decide the results, by the names of their fields; `config` has the training's."""
        free = ("output", "generations", "keep", "workers", "ray", "first", "against", "yardstick")
        found = dict(flat({name: value for name, value in asdict(self).items() if name not in free}))
        if self.openings is not None:
            found["openings"] = hashlib.sha256("\n".join(read_openings(self.openings)).encode()).hexdigest()
        own = training.configuration().items()
        return {**found, "config": {name: value for name, value in own if name not in _UNDECIDING}}

    def nets(self) -> dict[str, Path | str]:
        """Return the networks that were not made here, by their parts, as files or shipped names."""
        roles = {"first": self.first, **{f"against {net}": net for net in self.against}}
        return {role: net if is_shipped(net) else network_file_of(self.file_of(net)) for role, net in roles.items()}


_UNDECIDING = {*FREE_OPTIONS} - {"epochs"}
"""Options of training that the loop sets, or that do not change what is learnt."""
