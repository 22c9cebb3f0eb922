"""Self-play by PUCT: games side by side, as hcpe3 with the visits that the search gave each move."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import numpy as np

from experiments.factory.selfplay import check_random_plies, numbered
from experiments.games.openings import Openings, read_openings
from experiments.games.player import Ending
from experiments.jobs.produce import Production, produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from experiments.network_kinds.kind import network_file_of
from experiments.network_kinds.policy_value_bytes import network_bytes
from experiments.puct_selfplay.exploration import Exploration
from experiments.puct_selfplay.puct_game import Game, tree_megabytes
from experiments.puct_selfplay.search import search_together
from lite.datasets.plan import flat, plan_run
from lite.records.formats import HCPE3, MOST_VISITS
from search.puct.engine import Settings
from search.puct.leaves import Leaves
from search.puct.onnx_network import open_network
from search.system.bounds import check_numbers, check_share
from search.system.options import OptionError


@dataclass(frozen=True)
class PuctSelfPlay:
    """Options of self-play by PUCT."""

    net: str
    """The policy-value network that plays: an ONNX file of dlshogi's format, a trained network, or its run's folder."""
    output: Path = Path("runs/selfplay")
    """Folder of the run and its shards; the same command resumes an interrupted run."""
    positions: int = 100_000
    """Positions to generate, counting those of earlier calls."""
    playouts: int = 100
    """Visits of the root that end a move's search, including visits kept from the search before."""
    policy_temperature: float = 1.0
    """Temperature of the policy's softmax: above 1 the search tries more moves, and the visits are flatter."""
    openings: Path | None = None
    """File of openings, one per line as an SFEN or `startpos moves ...`; without it, games begin from the start
    position."""
    random_plies: tuple[int, int] = (0, 4)
    """Random legal moves played after the opening: least and most."""
    exploration: Exploration = field(default_factory=Exploration)
    ending: Ending = field(default_factory=lambda: Ending(win_score=1800))
    played_out: float = 0.1
    """Share of the games adjudicated by score that are played to their end instead, to measure how often the scores are
    wrong."""
    games: int = 32
    """Games that a worker plays side by side, their leaves in one batch; their games are written together."""
    seed: int = 1
    """Seed of the random moves, of the noise, and of the moves that are drawn."""
    workforce: Workforce = field(default_factory=Workforce)

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        self.exploration.check()
        self.ending.check()
        self.ending.check_played_out(self)
        check_numbers(self, "seed", least=0, most=None)
        check_random_plies(self.random_plies)
        check_numbers(self, "playouts", least=2, most=MOST_VISITS)
        if not 1e-3 <= self.policy_temperature <= 1e3:
            raise OptionError(
                f"`policy_temperature` {self.policy_temperature}: choose 0.001 to 1000", "policy_temperature"
            )
        check_share("played_out", self.played_out)
        check_numbers(self, "positions", most=None)
        check_numbers(self, "games")


def puct_self_play(options: PuctSelfPlay) -> Production:
    """Play until the folder has its number of positions; returns the folder's totals. Raises as `produce` does."""
    options.check()
    lines = ("startpos",) if options.openings is None else read_openings(options.openings)
    task = PuctTask(
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
    # Without the fields of a subclass, such as a command's.
    fixed = {option.name for option in fields(PuctSelfPlay)} - {"output", "positions", "workforce", "net"}
    named = {name: value for name, value in asdict(options).items() if name in fixed}
    deciding = {**flat(named), "openings": hashlib.sha256("\n".join(lines).encode()).hexdigest()}
    nets = {"net": network_file_of(options.net)}
    plan = plan_run("selfplay puct", deciding, goal={"positions": options.positions}, nets=nets)
    place = options.workforce.place(options.output, HCPE3)
    return produce(place, plan, task, numbered(), ("positions", options.positions))


@dataclass(frozen=True)
class PuctTask:
    """Everything a worker needs to play games."""

    network: bytes
    """Content of an ONNX file."""
    openings: Openings
    ending: Ending
    exploration: Exploration
    settings: Settings
    played_out: float
    playouts: int
    games: int
    """Games of a job, played side by side."""
    seed: int

    def open(self) -> PuctWorker:
        """Create a worker."""
        return PuctWorker(self)


class PuctWorker:
    """Plays the games of jobs, which are numbers."""

    def __init__(self, task: PuctTask) -> None:
        self._task = task
        self._model = open_network(task.network)
        self._leaves = Leaves(task.games)
        self._stopped = False

    def stop(self) -> None:
        """End the games under way."""
        self._stopped = True

    def run(self, number: int) -> Product:
        """Return the games of a job as hcpe3. Raises Stopped."""
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
