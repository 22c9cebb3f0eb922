"""Self-play: a network plays itself, and its games become records with the scores of its searches."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from experiments.factory.seen import Seen
from experiments.games.openings import Openings, read_openings
from experiments.games.player import Cancelled, Duel, Ending, Player, Variety
from experiments.jobs.description import Description
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product, Stopped
from experiments.jobs.workforce import Workforce
from lite.records.decode import labelled_dtype, scan_games
from lite.records.encode import copy_games, position_hashes
from lite.records.file import BLOCK_POSITIONS, DecodedGames, Refusals, decode_games
from lite.records.formats import HCPE3
from search.evaluation.network_file import load_network
from search.system.bounds import check_numbers
from search.system.paths import take_paths

NODES_A_JOB = 3_000_000
"""Nodes that the moves of a job take at most, about: a few seconds, which is what a kill costs."""
PLIES = 120
"""Of a game, about."""
GROWTH = 8
"""Jobs after which those that follow are a game longer."""


@dataclass(frozen=True)
class SelfPlay:
    """What self-play is told."""

    net: str = "default"
    """The network that plays: a file, or `default`."""
    output: Path = Path("runs/selfplay")
    """Folder of the shards."""
    positions: int = 1_000_000
    """Go on until so many are there."""
    nodes: int = 1000
    """A move; 0: no limit. A search finishes its first iteration however few they are: of less than 500 nodes some take
    a few hundred more."""
    depth: int = 0
    """A move; 0: no limit."""
    openings: Path | None = None
    """File of positions to begin from, an SFEN or `startpos moves ...` a line; without it, the start position."""
    random_plies: tuple[int, int] = (2, 12)
    """Random legal moves that are played on from there: at least, at most."""
    variety: Variety = field(default_factory=lambda: Variety(soft_plies=16))
    ending: Ending = field(default_factory=lambda: Ending(win_score=2500))
    played_out: float = 0.05
    """Share of the games that the scores would end that are played to their end, to see how often the scores err."""
    hash_mb: int = 8
    """Megabytes of each worker's table."""
    seed: int = 1
    """Of the random moves, and of those that are drawn."""
    workforce: Workforce = field(default_factory=Workforce)

    def __post_init__(self) -> None:
        take_paths(self)

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        least, most = self.random_plies
        if not 0 <= least <= most:
            raise ValueError(f"--random-plies {least} {most}: two numbers from 0 on are needed, the smaller first")
        check_numbers(self, "nodes", "depth", least=0)
        if not self.nodes + self.depth:
            raise ValueError("--nodes or --depth: a move needs a limit")
        if not 0 <= self.played_out <= 1:
            raise ValueError(f"--played-out {self.played_out}: a share from 0 to 1 is needed")
        check_numbers(self, "positions", most=None)
        check_numbers(self, "seed", least=0, most=None)
        check_numbers(self, "hash_mb")
        self.ending.check()
        self.ending.check_played_out(self)
        self.variety.check()

    def games_a_job(self) -> int:
        """Games of one job at the most."""
        return max(1, min(200, NODES_A_JOB // (PLIES * (self.nodes or 20_000))))


def self_play(options: SelfPlay) -> dict[str, Any]:
    """Play until there are so many positions; the folder's totals, over all calls for it. Raises OSError or ValueError
    in words.

    folder: its path. games, positions, jobs, bytes: how many its records have. met before: positions that were left out
    since earlier games have them; games met before: games of which that is true throughout. nodes: of all searches.
    ended by mate and the like: games that ended so, those met before among them. called and played out: games that the
    scores would have ended, played to their end instead; called wrongly: those of them that
    ended otherwise. ended: `goal` where the positions are there.
    """
    options.check()
    lines = ("startpos",) if options.openings is None else read_openings(options.openings)
    task = SelfPlayTask(
        Player(load_network(options.net), options.nodes, options.depth, hash_mb=options.hash_mb),
        Openings(lines, *options.random_plies),
        options.ending,
        options.variety,
        options.played_out,
        options.games_a_job(),
        options.seed,
    )
    # Not those of a command that asks for it, as how its figures are printed.
    fixed = {option.name for option in fields(SelfPlay)} - {"output", "positions", "workforce", "net"}
    told = {name: value for name, value in asdict(options).items() if name in fixed}
    told["openings"] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    description = Description("selfplay", told, (), {"player": options.net})
    return produce(
        options.workforce.place(options.output, HCPE3),
        description,
        task,
        numbered(),
        ("positions", options.positions),
        Unmet(options.output),
    )


def numbered() -> Iterator[tuple[int, int]]:
    """Jobs that are told apart by their numbers alone, without end."""
    return ((number, number) for number in count())


class Unmet:
    """Marks the positions that were met in earlier games, so that they are learnt from once."""

    def __init__(self, folder: Path) -> None:
        self._seen = Seen()
        self._folder = folder

    def recall(self) -> None:
        """Remember what the folder holds."""
        for path in sorted(self._folder.glob(f"shard_*.{HCPE3}*")):  # the one under way, too
            # Numba compiles anew for what may not be written to; nothing is, and the file would not see it.
            raw, at = np.memmap(path, np.uint8, "c"), 0
            while at < len(raw):
                stop, games, positions, *_ = scan_games(raw, np.int64(at), np.int64(BLOCK_POSITIONS))
                self._seen.add(position_hashes(_decoded(raw[at:stop], games, positions).positions))
                at = int(stop)

    def __call__(self, product: Product) -> Product:
        """The games of a product without candidates where a position was met, and without games that were met whole."""
        raw = np.frombuffer(product.content, np.uint8).copy()  # as in `recall`
        games = int(product.counts["games"])
        decoded = _decoded(raw, games, int(product.counts["positions"]))
        keep = self._seen.add(position_hashes(decoded.positions))
        game_of = np.repeat(np.arange(games), decoded.counts)
        whole = np.bincount(game_of[keep], minlength=games) > 0
        out = np.empty(2 * raw.size, np.uint8)
        size = copy_games(raw, decoded.starts, whole, keep, out)
        landed = {"positions": int(keep.sum()), "games": int(whole.sum())}
        met = {"met before": int((~keep).sum()), "games met before": int((~whole).sum())}
        return Product(out[:size].tobytes(), {**product.counts, **landed, **met})


def _decoded(raw: np.ndarray, games: int, positions: int) -> DecodedGames:
    return decode_games(raw, games, np.empty(positions, labelled_dtype), "self-play", Refusals())


@dataclass(frozen=True)
class SelfPlayTask:
    """What a worker needs to play games."""

    player: Player
    openings: Openings
    ending: Ending
    variety: Variety
    played_out: float
    games: int
    """Of a job at the most."""
    seed: int

    def open(self) -> SelfPlayWorker:
        """The memory of one worker."""
        return SelfPlayWorker(self)


class SelfPlayWorker:
    """Plays the games of jobs, which are told apart by their numbers alone.

    The first jobs are of one game each, and later ones of more: however few positions are asked for, the job with which
    they are reached has no more than a part of them, and those of a long run cost little beside their games."""

    def __init__(self, task: SelfPlayTask) -> None:
        self._task = task
        self._duel = Duel(task.player, None, task.ending, task.variety)

    def stop(self) -> None:
        """End the game under way."""
        self._duel.stop()

    def run(self, number: int) -> Product:
        """The games of a job as hcpe3. Raises Stopped."""
        task = self._task
        random = np.random.default_rng((task.seed, number))
        self._duel.forget()
        parts: list[bytes] = []
        counts: Counter[str] = Counter()
        for _ in range(min(task.games, 1 + number // GROWTH)):
            opening = task.openings.draw(random, lambda start: not self._duel.is_over(start))
            out = bool(random.random() < task.played_out)
            try:
                game = self._duel.play(opening, seed=int(random.integers(1 << 62)), play_out=out)
            except Cancelled:
                raise Stopped from None
            parts.append(game.hcpe3())
            counts.update(game.counts())
        return Product(b"".join(parts), dict(counts))
