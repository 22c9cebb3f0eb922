"""Positions whose moves are worth judging, chosen from recorded games: balanced ones, and those with a mate in the air.

Each is written with the moves that led to it, so that a search can be given the memory that it has in a game. At most
one of a game is taken, so that they are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.game_position import GamePosition
from experiments.jobs.crew import product_of, work_through
from experiments.jobs.protocol import Product
from experiments.judge.judge import Judge, Judging
from lite.amounts import amount
from lite.datasets.chunks import ChunkReader, data_files, holds_games
from search.mate.solver import MateSolver, MateStatus
from search.rules.huffman import HCP, decode
from search.rules.movegen import list_moves
from search.rules.position import do_move, in_check, new_position
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen, move_to_usi
from search.system.bounds import check_numbers
from search.system.files import check_output, write_atomically

LEAD = 16
"""Moves that led to a position and are written with it."""
MATE_NODES = 10_000
"""Of the search that finds a threatmate."""
TRIES = 3
"""Positions of one game that the judge is asked about at most."""


@dataclass(frozen=True)
class Selection:
    """Which positions are taken."""

    games: tuple[Path, ...]
    """hcpe3 files or game files, or directories of them."""
    output: Path
    """File to write: `sfen SFEN moves ...` a line."""
    count: int = 1000
    """Positions."""
    attack: bool = False
    """Only positions where the mover's king is under a threatmate (tsumero): were he to pass, there would be a mate by
    checks that 10,000 nodes of df-pn prove."""
    from_ply: int = 20
    """Moves played before, at least."""
    balance: int = 600
    """Centipawns that the judge sees for either side at most; the record's score, where there is one, too."""
    seed: int = 1
    """Another seed takes other games, and other positions of a game."""
    overwrite: bool = False
    """Replace the file if it is there."""


@dataclass(frozen=True)
class RecordedGame:
    """A game as it is handed to a worker."""

    number: int
    start: bytes
    """32 bytes of hcp."""
    moves: np.ndarray
    """u2 (plies,)."""
    scores: np.ndarray
    """i2 (plies,): centipawns of the mover, 0 where none is known."""


def select_positions(selection: Selection, judging: Judging) -> dict[str, Any]:
    """Write the file: a position a line, `sfen ... moves ...`. {positions, games, output}.

    The games and the seed decide what is in it, not how many work on it. Raises OSError or ValueError in words.
    """
    check_numbers(selection, "count", "balance")
    check_numbers(selection, "from_ply", least=LEAD)
    check_numbers(selection, "seed", least=0, most=None)
    check_output(selection.output, overwrite=selection.overwrite)
    games = list(read_recorded(selection.games))
    order = np.random.default_rng(selection.seed).permutation(len(games))
    judge = judging.open()
    found = work_through(
        SelectionTask(selection, judge),
        (games[place] for place in order),
        selection.count,
        judging.workers,
        "positions",
        _found_in_a_row,
        goes_on=True,
    )
    lines = [line for line in found if line is not None][: selection.count]
    if not lines:
        raise ValueError(f"{selection.games[0]}: of {amount(len(games), 'game')} none has such a position")
    kind = "a threatmate against the mover" if selection.attack else "balanced"
    head = f"# {kind}, at most {selection.balance} cp by {judging.judge_nodes:,} nodes of {judge.engine.id_name}"
    write_atomically(selection.output, "\n".join([head, *lines, ""]).encode())
    return {"positions": len(lines), "games": len(games), "output": str(selection.output)}


def read_recorded(paths: tuple[Path, ...]) -> Iterator[RecordedGame]:
    """The games of files. Raises OSError or ValueError in words."""
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


def _found_in_a_row(made: dict[int, Any]) -> int:
    """Positions found in games before the first that has not come back: what is enough must not depend on haste."""
    count = number = 0
    while number in made:
        count += made[number] is not None
        number += 1
    return count


@dataclass(frozen=True)
class SelectionTask:
    """What a worker needs to find a position in a game."""

    selection: Selection
    judge: Judge

    def open(self) -> SelectionWorker:
        return SelectionWorker(self)


class SelectionWorker:
    """Looks through games in an order of chance."""

    def __init__(self, task: SelectionTask) -> None:
        self._selection = task.selection
        self._seat = task.judge.seat()
        self._solver = MateSolver(16)

    def stop(self) -> None:
        self._seat.stop()

    def run(self, job: RecordedGame) -> Product:
        """A line of the file, or None where the game has no such position."""
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
                return product_of(position.text)
            asked += 1
            if asked == TRIES:
                break
        return product_of(None)

    def _is_threatened(self, pos: np.void) -> bool:
        """Whether the mover, were he to pass, would be mated by checks."""
        if in_check(pos):
            return False
        self._solver.clear()
        found = self._solver.solve(passed(get_sfen(pos)), nodes=MATE_NODES, shorten=False)
        return found.status is MateStatus.MATE


def position_at(game: RecordedGame, ply: int) -> GamePosition:
    """Where a game stood after so many of its moves, with the last of them."""
    pos = new_position()
    board, hands, turn = decode(game.start, HCP)
    set_board(pos, board, hands, np.int64(turn), np.int64(1))
    first = max(0, ply - LEAD)
    for move in game.moves[:first]:
        do_move(pos, np.int64(move))
    return GamePosition(f"sfen {get_sfen(pos)}", tuple(move_to_usi(int(move)) for move in game.moves[first:ply]))


def passed(sfen: str) -> str:
    """The position with the other side to move."""
    board, turn, rest = sfen.split(" ", 2)
    return f"{board} {'w' if turn == 'b' else 'b'} {rest}"
