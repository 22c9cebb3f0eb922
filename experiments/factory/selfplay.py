"""Self-play by alpha-beta: games of a network against itself, as records with the scores of its searches."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from itertools import count
from pathlib import Path

import numpy as np

from experiments.factory.seen import Seen
from experiments.games.openings import Openings, read_openings
from experiments.games.player import Duel, Ending, Player, Variety
from experiments.jobs.produce import Production, produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from lite.datasets.plan import flat, plan_run
from lite.records.batch import labelled_dtype
from lite.records.decode import RECORD_ERRORS, scan_games
from lite.records.encode import copy_games, position_hashes
from lite.records.file import BLOCK_POSITIONS, DecodedGames, Refusals, decode_games
from lite.records.formats import HCPE3, RecordError
from search.evaluation.network_file import load_network
from search.system.bounds import MOST_MEGABYTES, check_number, check_numbers, check_share
from search.system.options import OptionError
from search.system.paths import take_paths

NODES_A_JOB = 3_000_000
"""Approximate limit of the nodes of a job's moves: a few seconds, which is the work that a kill loses."""
PLIES = 120
"""Approximate length of a game in plies."""
MOST_RANDOM = 1000
"""Largest number of random plies: random games hardly ever last longer."""
GROWTH = 8
"""Number of jobs after which the number of games per job grows by one."""


@dataclass(frozen=True)
class SelfPlay:
    """Options of self-play by alpha-beta."""

    net: str = "default"
    """The network that plays: a file, or the name of a shipped one."""
    output: Path = Path("runs/selfplay")
    """Folder of the run and its shards; the same command resumes an interrupted run."""
    positions: int = 1_000_000
    """Positions to generate, counting those of earlier calls."""
    nodes: int = 1000
    """Nodes per move; 0 means no limit. A search always finishes its first iteration, so it may exceed a limit below
    500 by up to about 2,000 nodes."""
    depth: int = 0
    """Depth per move; 0 means no limit."""
    openings: Path | None = None
    """File of openings, one per line as an SFEN or `startpos moves ...`; without it, games begin from the start
    position."""
    random_plies: tuple[int, int] = (2, 12)
    """Random legal moves played after the opening: least and most."""
    variety: Variety = field(default_factory=lambda: Variety(soft_plies=16))
    ending: Ending = field(default_factory=lambda: Ending(win_score=2500))
    played_out: float = 0.05
    """Share of the games adjudicated by score that are played to their end instead, to measure how often the scores are
    wrong."""
    hash_mb: int = 8
    """Megabytes of each worker's transposition table."""
    seed: int = 1
    """Seed of the random moves and of the moves that are drawn."""
    workforce: Workforce = field(default_factory=Workforce)

    def __post_init__(self) -> None:
        take_paths(self)

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_random_plies(self.random_plies)
        check_numbers(self, "nodes", "depth", least=0)
        if not self.nodes + self.depth:
            raise OptionError("`nodes` or `depth`: a move needs a limit", "nodes", "depth")
        check_share("played_out", self.played_out)
        check_numbers(self, "positions", most=None)
        check_numbers(self, "seed", least=0, most=None)
        check_numbers(self, "hash_mb", most=MOST_MEGABYTES)
        self.ending.check()
        self.ending.check_played_out(self)
        self.variety.check()

    def games_a_job(self) -> int:
        """Return the most games of one job."""
        return max(1, min(200, NODES_A_JOB // (PLIES * (self.nodes or 20_000))))


def self_play(options: SelfPlay) -> Production:
    """Play until the folder has its number of positions; returns the totals of all calls. Raises as `produce` does.

    The totals: games, positions, jobs, bytes of the records. met before: positions left out because earlier games have
    them; games met before: games left out whole. nodes: nodes of all searches. ended by mate and so on: games by their
    ending, including games met before. called and played out: games adjudicated by score but played to their end;
    called wrongly: those of them that ended otherwise.
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
    # Without the fields of a subclass, such as a command's.
    fixed = {option.name for option in fields(SelfPlay)} - {"output", "positions", "workforce", "net"}
    named = {name: value for name, value in asdict(options).items() if name in fixed}
    deciding = {**flat(named), "openings": hashlib.sha256("\n".join(lines).encode()).hexdigest()}
    plan = plan_run("selfplay", deciding, goal={"positions": options.positions}, nets={"net": options.net})
    return produce(
        options.workforce.place(options.output, HCPE3),
        plan,
        task,
        numbered(),
        ("positions", options.positions),
        UnmetGames(options.output),
    )


def check_random_plies(plies: tuple[int, int]) -> None:
    """Raise OptionError unless `random_plies` are two numbers from 0 to MOST_RANDOM, the smaller first."""
    least, most = plies
    if not 0 <= least <= most:
        raise OptionError(
            f"`random_plies` {least} {most}: two numbers from 0 on are needed, the smaller first", "random_plies"
        )
    check_number("random_plies", most, least=0, most=MOST_RANDOM)


def numbered() -> Iterator[tuple[int, int]]:
    """Yield jobs without end, each of which is its number."""
    return ((number, number) for number in count())


class UnmetGames:
    """Leaves out positions that earlier games have, so that they are learnt from once."""

    def __init__(self, folder: Path) -> None:
        self._seen = Seen()
        self._folder = folder

    def recall(self) -> None:
        """Remember the positions of the folder's games. Raises RecordError for a damaged shard."""
        for path in sorted(self._folder.glob(f"shard_*.{HCPE3}*")):  # including the shard under way
            # Numba would compile again for a read-only array; nothing is written, and the file would not change.
            raw, at = np.memmap(path, np.uint8, "c"), 0
            while at < len(raw):
                stop, games, positions, _, error = scan_games(raw, np.int64(at), np.int64(BLOCK_POSITIONS))
                if error:
                    raise RecordError(
                        f"{path}: game at byte {stop}: {RECORD_ERRORS[error]}; restore the file from a copy, or choose "
                        "another folder"
                    )
                self._seen.add(position_hashes(_decoded(raw[at:stop], games, positions).positions))
                at = int(stop)

    def __call__(self, product: Product) -> Product:
        """Return a product without the candidates of known positions, and without games whose positions all are
        known."""
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
    """Everything a worker needs to play games."""

    player: Player
    openings: Openings
    ending: Ending
    variety: Variety
    played_out: float
    games: int
    """Most games of a job."""
    seed: int

    def open(self) -> SelfPlayWorker:
        """Create a worker."""
        return SelfPlayWorker(self)


class SelfPlayWorker:
    """Plays the games of jobs, which are numbers.

    The first jobs are of one game each, and later ones of more: a small run overshoots its goal by little, and a long
    run spends little on each job beside its games."""

    def __init__(self, task: SelfPlayTask) -> None:
        self._task = task
        self._duel = Duel(task.player, None, task.ending, task.variety)

    def stop(self) -> None:
        """End the game under way."""
        self._duel.stop()

    def run(self, number: int) -> Product:
        """Return the games of a job as hcpe3. Raises Stopped."""
        task = self._task
        random = np.random.default_rng((task.seed, number))
        self._duel.forget()
        parts: list[bytes] = []
        counts: Counter[str] = Counter()
        for _ in range(min(task.games, 1 + number // GROWTH)):
            opening = task.openings.draw(random, lambda start: not self._duel.is_over(start))
            out = bool(random.random() < task.played_out)
            game = self._duel.play(opening, seed=int(random.integers(1 << 62)), play_out=out)
            parts.append(game.hcpe3())
            counts.update(game.counts())
        return Product(b"".join(parts), dict(counts))
