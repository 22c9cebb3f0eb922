"""Self-play by PUCT: games side by side, and of every move how often the search visited each alternative, as hcpe3."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from experiments.factory.selfplay import numbered
from experiments.games.openings import Openings, read_openings
from experiments.games.player import Ending
from experiments.jobs.description import Description
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from experiments.network_kinds import network_path
from experiments.zero.exploration import Exploration
from experiments.zero.network import network_bytes, open_network
from experiments.zero.puct_game import Game, tree_megabytes
from experiments.zero.search import search_together
from lite.records.formats import HCPE3, MOST_VISITS
from search.puct.engine import Settings
from search.puct.leaves import Leaves
from search.system.bounds import check_numbers


@dataclass(frozen=True)
class ZeroSelfPlay:
    """What self-play by PUCT is told."""

    net: str
    """The policy-value network that plays: an ONNX file of dlshogi's format, a trained one, or its run's directory."""
    output: Path = Path("runs/selfplay")
    """Folder of the shards."""
    positions: int = 100_000
    """Go on until so many are there."""
    playouts: int = 100
    """Visits of the root that end a move's search; those that the tree brings along count."""
    policy_temperature: float = 1.0
    """Of the policy's softmax: above 1 the search tries more moves, and what is learnt from it is flatter."""
    openings: Path | None = None
    """File of positions to begin from, an SFEN or `startpos moves ...` a line; without it, the start position."""
    random_plies: tuple[int, int] = (0, 4)
    """Random legal moves that are played on from there: at least, at most."""
    exploration: Exploration = field(default_factory=Exploration)
    ending: Ending = field(default_factory=lambda: Ending(win_score=1800))
    played_out: float = 0.1
    """Share of the games that the scores would end that are played to their end, to see how often the scores err."""
    games: int = 32
    """Games that a worker plays side by side, their leaves in one batch: they land together."""
    seed: int = 1
    """Of the random moves, the noise, and the moves that are drawn."""
    workforce: Workforce = field(default_factory=Workforce)

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        self.exploration.check()
        self.ending.check()
        self.ending.check_played_out(self)
        check_numbers(self, "seed", least=0, most=None)
        least, most = self.random_plies
        if not 0 <= least <= most:
            raise ValueError(f"--random-plies {least} {most}: two numbers from 0 on are needed, the smaller first")
        if not 2 <= self.playouts <= MOST_VISITS:
            raise ValueError(f"--playouts {self.playouts}: choose 2 to {MOST_VISITS:,}")
        if not 1e-3 <= self.policy_temperature <= 1e3:
            raise ValueError(f"--policy-temperature {self.policy_temperature}: choose 0.001 to 1000")
        if not 0 <= self.played_out <= 1:
            raise ValueError(f"--played-out {self.played_out}: a share from 0 to 1 is needed")
        check_numbers(self, "positions", most=None)
        check_numbers(self, "games")


def zero_self_play(options: ZeroSelfPlay) -> dict[str, Any]:
    """Play until there are so many positions; the folder's totals. Raises as `produce` does."""
    options.check()
    lines = ("startpos",) if options.openings is None else read_openings(options.openings)
    task = ZeroTask(
        network_bytes(options.net),
        Openings(lines, *options.random_plies),
        options.ending,
        options.exploration,
        Settings(temperature=options.policy_temperature),
        options.played_out,
        options.playouts,
        options.games,
        options.seed,
    )
    # Not those of a command that asks for it, as how its figures are printed.
    fixed = {option.name for option in fields(ZeroSelfPlay)} - {"output", "positions", "workforce", "net"}
    told = {name: value for name, value in asdict(options).items() if name in fixed}
    told["openings"] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    description = Description("selfplay puct", told, (), {"player": network_path(options.net)})
    place = options.workforce.place(options.output, HCPE3)
    return produce(place, description, task, numbered(), ("positions", options.positions))


@dataclass(frozen=True)
class ZeroTask:
    """What a worker needs to play games."""

    network: bytes
    """An ONNX file's content."""
    openings: Openings
    ending: Ending
    exploration: Exploration
    settings: Settings
    played_out: float
    playouts: int
    games: int
    """Of a job, side by side."""
    seed: int

    def open(self) -> ZeroWorker:
        """The memory of one worker."""
        return ZeroWorker(self)


class ZeroWorker:
    """Plays the games of jobs, which are told apart by their numbers alone."""

    def __init__(self, task: ZeroTask) -> None:
        self._task = task
        self._model = open_network(task.network)
        self._leaves = Leaves(task.games)
        self._stopped = False

    def stop(self) -> None:
        """End the games under way."""
        self._stopped = True

    def run(self, number: int) -> Product:
        """The games of a job as hcpe3. Raises Stopped."""
        task, leaves = self._task, self._leaves
        random = np.random.default_rng((task.seed, number))
        leaves.table.clear()
        games = [self._new_game(random) for _ in range(task.games)]
        playing = games
        while playing:
            for game in playing:
                game.begin_move()
            playing = [game for game in playing if not game.is_over]
            leaves.begin_search()
            self._search(playing, 1)
            for game in playing:
                game.stir(task.exploration, random)
            self._search(playing, task.playouts)
            for game in playing:
                game.end_move(task.exploration, random)
            playing = [game for game in playing if not game.is_over]
        played = [one for one in (game.finished() for game in games) if len(one.moves)]
        counts: Counter[str] = Counter()
        for one in played:
            counts.update(one.counts())
        return Product(b"".join(one.hcpe3() for one in played), dict(counts))

    def _search(self, games: list[Game], playouts: int) -> None:
        search_together(games, playouts, self._model, self._leaves, lambda: self._stopped)

    def _new_game(self, random: np.random.Generator) -> Game:
        task = self._task
        opening = task.openings.draw(random)
        play_out = bool(random.random() < task.played_out)
        return Game(opening, task.ending, task.settings, tree_megabytes(task.playouts), play_out)
