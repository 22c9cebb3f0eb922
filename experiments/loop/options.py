"""What a loop is told."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from experiments.elo.sprt import Sprt
from experiments.factory.expand import Mixture
from experiments.factory.selfplay import SelfPlay
from experiments.games.openings import read_openings
from experiments.games.player import Ending, Variety
from experiments.jobs.workforce import Workforce
from experiments.matches.counted_games import FROM_START
from experiments.matches.counted_match import CountedMatch
from experiments.network_kinds import Kind, kind_of, network_path
from lite.records.formats import record_files
from lite.training.options import ValueTraining
from search.evaluation.network_file import load_network
from search.evaluation.shipped import is_shipped
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.cores import usable_cores

MATERIAL = "material"
"""The network that counts pieces, among those that a loop begins from and is measured against."""


@dataclass(frozen=True)
class Loop:
    """What a loop is told."""

    output: Path = Path("runs/loop")
    """Folder of everything."""
    first: str = MATERIAL
    """The network that plays first: `material`, which knows no more than what pieces are worth, `default`, a folded
    network, an nn.bin, or a trained one, whose weights the first candidate begins with where its sizes are the same."""
    generations: int = 10
    """Go on until there are so many."""
    positions: int = 200_000
    """Positions of a generation's games."""
    nodes: int = 200
    """Of a move in them."""
    openings: Path | None = None
    """File of positions that games and matches begin from, an SFEN or `startpos moves ...` a line; without it, the
    start position."""
    random_plies: tuple[int, int] = (2, 12)
    """Random legal moves that are played on from there: at least, at most."""
    variety: Variety = field(default_factory=lambda: Variety(soft_plies=16))
    ending: Ending = field(default_factory=lambda: Ending(win_score=2500))
    mixture: Mixture = field(default_factory=lambda: Mixture(random=1.0, tree=2.0))
    label: Literal["static", "quiescence", "search"] = "search"
    """What the best network says of a position: itself, when exchanges are settled, or in a search of --label-nodes."""
    label_nodes: int = 200
    """Nodes of that search."""
    held_out: float = 0.05
    """Games beside these, as a share of --positions, whose positions are not learnt from: the losses are on them."""
    window: int = 3
    """Generations whose positions a candidate learns from: its own and those before."""
    keep: int | None = None
    """Generations whose games and positions stay on the disk, at least --window; without it, all."""
    gate_nodes: int = 1000
    """Of a move in matches."""
    gate_games: int = 2000
    """The most games in which a candidate can show that it is better than the best one."""
    sprt: tuple[float, float] = (0.0, 20.0)
    """Elo differences: a candidate takes the best one's place when games say that the higher is nearer the truth."""
    against: tuple[str, ...] = ()
    """Networks that each new best one plays: files, `default`, `material`."""
    against_games: int = 400
    """Games with each of them."""
    yardstick: tuple[Path, ...] = ()
    """Records with the scores of long searches, for each candidate's d1-RMSE, see liteshogi test --yardstick."""
    seed: int = 1
    """Of all that is drawn by chance."""
    workers: int = field(default_factory=usable_cores)
    """Threads of this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs play and label instead, or `auto`."""

    def check(self) -> None:
        """Raises ValueError or OSError in words for options that make no sense and networks that cannot be used."""
        self.mixture.check()
        check_numbers(self, "generations", "positions", "nodes", "label_nodes", "window", "gate_nodes")
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        check_numbers(self, "seed", least=0, most=None)
        if not 0 <= self.held_out <= 1:
            raise ValueError(f"--held-out {self.held_out}: a share from 0 to 1 is needed")
        if self.keep is not None and self.keep < self.window:
            raise ValueError(f"--keep {self.keep}: at least --window {self.window}, which are learnt from")
        for name in ("gate_games", "against_games"):
            if (games := getattr(self, name)) < 2 or games % 2:
                raise ValueError(
                    f"--{name.replace('_', '-')} {games}: an even number is needed, for openings are paired"
                )
        seed = self.game_seed(1)
        self.self_play(self.first, self.output, self.positions, seed).check()
        self.match(self.first, self.first, self.output, self.gate_games, seed, self.test()).check()
        if self.openings is not None:
            self._check_openings()
        if self.yardstick:
            record_files(self.yardstick)
        for net in (self.first, *self.against):
            if net == MATERIAL:
                continue
            kind = kind_of(net)
            if kind is Kind.FOLDED:
                load_network(net)
            elif kind is not Kind.VALUE or net in self.against:
                raise ValueError(f"{net}: is {kind.value}, which does not play here; give a folded one")

    def _check_openings(self) -> None:
        """Raises ValueError or OSError if a generation's matches cannot be played from them, before it has played and
        learnt.

        How many come again is a matter of the seed, too, so each generation's are drawn."""
        gate = self.match(self.first, self.first, self.output, self.gate_games, self.game_seed(1))
        lines = gate.read_lines()
        for name in ("gate_games", "against_games") if self.against else ("gate_games",):
            games = getattr(self, name)
            for generation in range(1, self.generations + 1):
                seed = self.game_seed(generation) + (name == "against_games")
                try:
                    self.match(self.first, self.first, self.output, games, seed).check_lines(lines)
                except ValueError as error:
                    raise ValueError(f"--{name.replace('_', '-')} {games}: {error}") from None

    def test(self) -> Sprt:
        """The test at the gate."""
        return Sprt(*self.sprt)

    def game_seed(self, generation: int) -> int:
        """Of a generation's games and of its gate; those that are held out and the matches against others have the
        next."""
        return 2 * (1000 * self.seed + generation)

    def self_play(self, net: str, output: Path, positions: int, seed: int) -> SelfPlay:
        """Games of a generation."""
        return SelfPlay(
            net,
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

    def match(
        self, first: str, second: str, output: Path, games: int, seed: int, test: Sprt | None = None
    ) -> CountedMatch:
        """A match of a generation."""
        return CountedMatch(
            first,
            second,
            nodes=self.gate_nodes,
            games=games,
            openings=self.openings,
            # From the start, a match's own: games there differ by nothing else.
            random_plies=FROM_START if self.openings is None else self.random_plies,
            sprt=test,
            parallel=self.workers,
            seed=seed,
            output=output,
        )

    def file_of(self, net: str) -> str:
        """The file of a network of these, or `default`."""
        return str(self.output / "material.safetensors") if net == MATERIAL else net

    def workforce(self) -> Workforce:
        """Who plays and labels: to the same files, however often a loop is cut."""
        return Workforce(self.workers, self.ray, in_order=True)

    def told(self, training: ValueTraining) -> dict[str, Any]:
        """What decides what is made, by the names of the command line: a loop goes on with that alone."""
        free = ("output", "generations", "keep", "workers", "ray", "first", "against", "yardstick")
        told: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if name not in free:
                told |= value if isinstance(value, dict) else {name: value}
        if self.openings is not None:
            told["openings"] = hashlib.sha256("\n".join(read_openings(self.openings)).encode()).hexdigest()
        for name, value in training.configuration().items():
            if name not in _THE_LOOPS_OWN:
                told[f"config {name}"] = value
        return told

    def nets(self) -> dict[str, Path | str]:
        """The networks that were not made here, by what they are for, as files or `default`."""
        roles = {"first": self.first, **{f"against {net}": net for net in self.against}}
        return {role: net if is_shipped(net) else network_path(self.file_of(net)) for role, net in roles.items()}


_THE_LOOPS_OWN = ("data", "output", "valid", "init-from", "threads", "device", "save-minutes", "keep-epochs")
"""Options of training that a loop gives itself, or that decide nothing."""
