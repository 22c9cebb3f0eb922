"""How sound a search's own word is: on quiet balanced positions against a teacher's, and searched again.

A search that prunes what answers its moves thinks too well of itself: its scores stand above a teacher's where neither
side is better. One whose depths disagree by their parity sees what it wants to see. And what is said of a mate, or of a
draw, must still be said by the next search that finds it in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.factory.jobs import Product
from experiments.games.options import read_player
from experiments.games.player import Player
from experiments.judge.choosers import OwnChooser
from experiments.judge.crew import product_of, work_through
from experiments.judge.game_position import GamePosition
from experiments.judge.losses import clipped, mean_and_error
from experiments.judge.selection import LEAD, RecordedGame, position_at, read_recorded
from search.rules.position import in_check
from search.rules.shogi import EMPTY, PROMOTE
from search.score import is_mate

LATE = 24
"""Moves before a game's end from which on its positions are searched again."""
FROM_DEPTH = 4
"""The least depth whose step from the one before it is told: the first ones are hardly searches."""


@dataclass(frozen=True)
class HealthOptions:
    """Which search is examined, on what."""

    net: str
    games: tuple[Path, ...]
    """hcpe3 files or game files with scores, or directories of them: the teacher's word."""
    nodes: tuple[int, ...] = (1_000, 4_000, 40_000)
    """Of the searches that are compared with it, rising."""
    long_nodes: int = 400_000
    """Of the search whose moves those are compared with."""
    count: int = 200
    """Positions, one of a game, and as many that are searched again."""
    balance: int = 600
    """Centipawns of the teacher's score at most."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the search, as `judge moves` takes them."""
    seed: int = 1
    workers: int = 1
    """Positions at a time."""


def examine(options: HealthOptions) -> dict[str, Any]:
    """{engine, positions, teacher, nodes, steps, again}: see `as_text` of the command. Raises OSError or ValueError."""
    if not options.nodes or min(*options.nodes, options.long_nodes, options.count, options.workers) < 1:
        raise ValueError("--nodes, --long-nodes, --count and --workers must be at least 1")
    named = read_player(options.net, options.option, max(options.nodes), 0, "--option")
    if not isinstance(named.player, Player):
        raise ValueError(f"{options.net}: is played by PUCT; what is examined here is the alpha-beta search")
    games = list(read_recorded(options.games))
    order = np.random.default_rng(options.seed).permutation(len(games)).tolist()
    quiet = _first(options.count, (_quiet(games[place], options) for place in order))
    late = _first(options.count, (_late(games[place], options) for place in order))
    if not quiet:
        raise ValueError(f"{options.games[0]}: no quiet position that a score calls balanced")
    task = HealthTask(named.player, options.nodes, options.long_nodes)
    jobs = [*(("quiet", position) for position, _ in quiet), *(("again", position) for position, _ in late)]
    made = work_through(task, jobs, len(jobs), options.workers, "positions")
    labels = np.array([label for _, label in quiet], float)
    return {
        "engine": named.name(False),
        "positions": len(quiet),
        "teacher": _level(labels),
        "long_nodes": options.long_nodes,
        "nodes": _by_nodes(options.nodes, made[: len(quiet)], labels),
        "steps": _steps([row["depths"] for row in made[: len(quiet)]]),
        "again": _again(made[len(quiet) :]),
    }


_Labelled = tuple[GamePosition, int]


def _first(count: int, found: Iterator[_Labelled | None]) -> list[_Labelled]:
    taken: list[_Labelled] = []
    for one in found:
        if one is not None:
            taken.append(one)
        if len(taken) == count:
            break
    return taken


def _quiet(game: RecordedGame, options: HealthOptions) -> _Labelled | None:
    """A balanced position of a game, not in check, in which neither a capture nor a promotion was best."""
    scored = (game.scores != 0) & (np.abs(game.scores.astype(int)) <= options.balance)
    plies = np.flatnonzero(scored & (np.arange(len(game.moves)) >= LEAD))
    for ply in np.random.default_rng((options.seed, game.number)).permutation(plies).tolist():
        position = position_at(game, ply)
        pos = position.set_up()
        best = int(game.moves[ply])
        if not in_check(pos) and pos["board"][best & 127] == EMPTY and not best & PROMOTE:
            return position, int(game.scores[ply])
    return None


def _late(game: RecordedGame, options: HealthOptions) -> _Labelled | None:
    """A position near a game's end."""
    ply = len(game.moves) - 1 - int(np.random.default_rng((options.seed, game.number)).integers(LATE))
    return (position_at(game, ply), 0) if ply >= LEAD else None


def _level(scores: np.ndarray) -> dict[str, float]:
    mean, error = mean_and_error(np.clip(scores, clipped(-(10**6)), clipped(10**6)))
    return {"mean": mean, "error": error, "positive": round(float((scores > 0).mean()), 4)}


def _by_nodes(nodes: Sequence[int], made: list[dict[str, Any]], labels: np.ndarray) -> list[dict[str, Any]]:
    rows = []
    for place, limit in enumerate(nodes):
        scores = np.array([row["scores"][place] for row in made], float)
        rows.append(
            {
                "nodes": limit,
                **_level(scores),
                "sign_accuracy": round(float((np.sign(scores) == np.sign(labels)).mean()), 4),
                "as_long": round(float(np.mean([row["moves"][place] == row["long_move"] for row in made])), 4),
            }
        )
    return rows


def _steps(traces: list[list[int]]) -> list[dict[str, Any]]:
    """What the score does from a depth to the next, while at least half of the positions reach it."""
    rows, depth = [], FROM_DEPTH
    while 2 * len(pairs := [trace for trace in traces if len(trace) >= depth]) >= len(traces):
        changes = np.array([clipped(trace[depth - 1]) - clipped(trace[depth - 2]) for trace in pairs], float)
        mean, error = mean_and_error(changes)
        rows.append({"to_depth": depth, "mean": mean, "error": error, "size": round(float(np.abs(changes).mean()), 1)})
        depth += 1
    return rows


def _again(made: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts of what the first search said, and of how much of it the second one, and a longer one afresh, held to."""
    mates = [row for row in made if is_mate(row["first"])]
    draws = [row for row in made if row["first"] == 0]
    rest = [row for row in made if not is_mate(row["first"]) and row["first"] != 0]
    changes = [abs(clipped(row["again"]) - clipped(row["first"])) for row in rest]
    return {
        "mates": len(mates),
        "mates_kept": sum(_same_mate(row["first"], row["again"]) for row in mates),
        "mates_not_longer": sum(abs(row["again"]) >= abs(row["first"]) for row in mates),
        "mates_found_afresh": sum(_same_mate(row["first"], row["afresh"]) for row in mates),
        "lost": [row for row in mates if not all(_same_mate(row["first"], row[one]) for one in ("again", "afresh"))],
        "draws": len(draws),
        "draws_kept": sum(row["again"] == 0 for row in draws),
        "others": len(rest),
        "moves_kept": sum(row["move"] == row["again_move"] for row in rest),
        "change": mean_and_error(changes) if changes else None,
    }


def _same_mate(first: int, other: int) -> bool:
    return is_mate(other) and (first > 0) == (other > 0)


@dataclass(frozen=True)
class HealthTask:
    """Positions to be searched by one player."""

    player: Player
    nodes: tuple[int, ...]
    long_nodes: int

    def open(self) -> HealthWorker:
        return HealthWorker(self)


class HealthWorker:
    """One thread's player."""

    def __init__(self, task: HealthTask) -> None:
        self._task = task
        self._chooser = OwnChooser(task.player)

    def stop(self) -> None:
        self._chooser.stop()

    def run(self, job: tuple[str, GamePosition]) -> Product:
        kind, position = job
        return product_of(self._examine(position) if kind == "quiet" else self._search_again(position))

    def _examine(self, position: GamePosition) -> dict[str, Any]:
        """{scores, moves} by nodes, `long_move`, and `depths`: the score of each depth of the long search."""
        depths: list[int] = []
        self._chooser.forget(0)
        found = self._chooser.search(position, self._task.long_nodes, lambda info: depths.append(info.score))
        long_move, scores, moves = found.best_move, [], []
        for nodes in self._task.nodes:
            self._chooser.forget(0)
            found = self._chooser.search(position, nodes)
            scores.append(found.score)
            moves.append(found.best_move)
        return {"scores": scores, "moves": moves, "long_move": long_move, "depths": depths}

    def _search_again(self, position: GamePosition) -> dict[str, Any]:
        """{position, first, move, again, again_move, afresh}: a search, the same with the table that it left, and a
        long one without."""
        nodes = self._task.nodes[-1]
        self._chooser.forget(0)
        first = self._chooser.search(position, nodes)
        again = self._chooser.search(position, nodes)
        afresh = first.score
        if is_mate(first.score):
            self._chooser.forget(0)
            afresh = self._chooser.search(position, self._task.long_nodes).score
        return {
            "position": position.text,
            "first": first.score,
            "move": first.best_move,
            "again": again.score,
            "again_move": again.best_move,
            "afresh": afresh,
        }
