"""Positions for judging moves, chosen from recorded games: balanced ones, or ones with a mate threatened.

Each is written with the moves before it, so that a search can be given the memory that it has in a game. At most one
per game is taken, so that they are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.game_position import GamePosition
from experiments.jobs.produce import gather
from experiments.jobs.protocol import JobLine, Product
from experiments.judge.judge import Judge, Judging
from lite.amounts import amount
from lite.datasets.chunks import ChunkReader, data_files, holds_games
from lite.datasets.plan import plan_run
from search.mate.solver import MateSolver, MateStatus
from search.rules.huffman import HCP, decode
from search.rules.movegen import list_moves
from search.rules.position import do_move, in_check, new_position
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen, move_to_usi
from search.system.bounds import check_numbers
from search.system.files import write_atomically

VERB = "judge positions"
POSITIONS = "positions.sfen"
"""File of the positions, in the folder of the run."""
LEAD = 16
"""Moves before a position that are written with it."""
MATE_NODES = 10_000
"""Nodes of the search for a threatened mate."""
TRIES = 3
"""Most positions per game that the judge evaluates."""


@dataclass(frozen=True)
class Selection:
    """Options of choosing positions."""

    games: tuple[Path, ...]
    """hcpe3 files or game files, or folders of them."""
    output: Path = Path("runs/judge/positions")
    """Folder of the run, with the positions in positions.sfen, one `sfen SFEN moves ...` per line; the same command
    resumes an interrupted run."""
    count: int = 1000
    """Positions to choose."""
    attack: bool = False
    """Only positions where the mover's king is under a threatmate (tsumero): after a pass, 10,000 nodes of df-pn prove
    a mate by checks."""
    from_ply: int = 20
    """Least moves played before a position."""
    balance: int = 600
    """Largest evaluation for either side by the judge, and by the record's score where there is one, centipawns."""
    seed: int = 1
    """Seed of the choice of games and of positions in a game."""


@dataclass(frozen=True, kw_only=True)
class SelectedPosition(JobLine, kind="selected position"):
    """The position chosen from a game; None if it has none that fits."""

    position: str | None


@dataclass(frozen=True)
class SelectionReport:
    """The result of choosing positions."""

    positions: int
    games: int
    """Number of games that positions were chosen from."""
    output: str
    """File of the chosen positions."""


@dataclass(frozen=True)
class RecordedGame:
    """A recorded game for a worker."""

    number: int
    start: bytes
    """32 bytes of hcp."""
    moves: np.ndarray
    """Moves, u2 (plies,)."""
    scores: np.ndarray
    """Scores i2 (plies,): centipawns of the mover, 0 where none is known."""


def select_positions(selection: Selection, judging: Judging) -> SelectionReport:
    """Choose positions and write their file; the same call resumes. Raises OSError or ValueError, KeyboardInterrupt.

    The games and the seed decide the choice, not the number of workers.
    """
    check_numbers(selection, "count", "balance")
    check_numbers(selection, "from_ply", least=LEAD)
    check_numbers(selection, "seed", least=0, most=None)
    games = list(read_recorded(selection.games))
    order = np.random.default_rng(selection.seed).permutation(len(games))
    with judging.open() as judge:
        deciding = {name: getattr(selection, name) for name in ("attack", "from_ply", "balance", "seed")}
        plan = plan_run(
            VERB,
            deciding | {"judge_nodes": judge.nodes},
            goal={"count": selection.count},
            games={"games": selection.games},
            conditions=judge.conditions,
            others=judge.engine.files(),
        )
        found = gather(
            judging.place(selection.output),
            plan,
            SelectionTask(selection, judge),
            enumerate(games[place] for place in order),
            (SelectedPosition,),
            selection.count,
            "positions",
            _found_in_a_row,
            keep=judge.keep,
        )
    lines = [line.position for line in found if line.position is not None][: selection.count]
    if not lines:
        raise ValueError(f"{selection.games[0]}: none of {amount(len(games), 'game')} has such a position")
    kind = "a threatmate against the mover" if selection.attack else "balanced"
    head = f"# {kind}, at most {selection.balance} cp by {judging.judge_nodes:,} nodes of {judge.engine.id_name}"
    output = selection.output / POSITIONS
    write_atomically(output, "\n".join([head, *lines, ""]).encode())
    return SelectionReport(len(lines), len(games), str(output))


def read_recorded(paths: tuple[Path, ...]) -> Iterator[RecordedGame]:
    """Yield the games of files. Raises OSError or ValueError."""
    files, number = data_files(paths), 0
    for path in files:
        if not holds_games(path):
            raise ValueError(f"{path}: holds positions without the moves that led to them; name hcpe3 or game files")
    for chunk in ChunkReader(files):
        games, first = chunk.games, 0
        assert games is not None
        for start, count in zip(games.starts.tolist(), games.counts.tolist(), strict=True):
            own = chunk.positions[first : first + count]
            code = games.raw[start : start + 32].tobytes()
            yield RecordedGame(number, code, own["move"].copy(), own["score"].copy())
            first, number = first + count, number + 1


def _found_in_a_row(made: dict[int, SelectedPosition]) -> int:
    """Return the number of positions found in the games before the first unfinished one: the order in which jobs end
    must make no difference."""
    count = number = 0
    while number in made:
        count += made[number].position is not None
        number += 1
    return count


@dataclass(frozen=True)
class SelectionTask:
    """Everything a worker needs to choose a position of a game."""

    selection: Selection
    judge: Judge

    def open(self) -> SelectionWorker:
        return SelectionWorker(self)


class SelectionWorker:
    """Looks through the positions of games in random order."""

    def __init__(self, task: SelectionTask) -> None:
        self._selection = task.selection
        self._seat = task.judge.seat()
        self._solver = MateSolver(16)

    def stop(self) -> None:
        self._seat.stop()

    def run(self, job: RecordedGame) -> Product:
        """Return a game's position, if it has one that fits. Raises Stopped."""
        selection = self._selection
        balanced = np.abs(job.scores.astype(int)) <= selection.balance
        plies = np.flatnonzero(balanced & (np.arange(len(job.moves)) >= selection.from_ply))
        asked = 0
        for ply in np.random.default_rng((selection.seed, job.number)).permutation(plies).tolist():
            position = position_at(job, ply)
            pos = position.set_up()
            if len(list_moves(pos)) < 2 or (selection.attack and not self._is_threatened(pos)):
                continue
            if abs(self._seat.ask(position).score) <= selection.balance:
                return self._product(position.text)
            asked += 1
            if asked == TRIES:
                break
        return self._product(None)

    def _product(self, text: str | None) -> Product:
        return Product(line=SelectedPosition(job=0, position=text), answers=self._seat.fresh())

    def _is_threatened(self, pos: np.void) -> bool:
        """Return whether the opponent would have a mate by checks if the mover passed."""
        if in_check(pos):
            return False
        self._solver.clear()
        found = self._solver.solve(passed(get_sfen(pos)), nodes=MATE_NODES, shorten=False)
        return found.status is MateStatus.MATE


def position_at(game: RecordedGame, ply: int) -> GamePosition:
    """Return a game's position after `ply` moves, with the last moves before it."""
    pos = new_position()
    board, hands, turn = decode(game.start, HCP)
    set_board(pos, board, hands, np.int64(turn), np.int64(1))
    first = max(0, ply - LEAD)
    for move in game.moves[:first]:
        do_move(pos, np.int64(move))
    return GamePosition(f"sfen {get_sfen(pos)}", tuple(move_to_usi(int(move)) for move in game.moves[first:ply]))


def passed(sfen: str) -> str:
    """Return the position with the other side to move."""
    board, turn, rest = sfen.split(" ", 2)
    return f"{board} {'w' if turn == 'b' else 'b'} {rest}"
