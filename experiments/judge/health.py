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

from experiments.games.game_position import GamePosition
from experiments.jobs.crew import product_of, work_through
from experiments.jobs.protocol import Product
from experiments.judge.choosers import Choice, Judged, choose_in_game, read_judged
from experiments.judge.losses import clipped, mean_and_error
from experiments.judge.selection import LEAD, RecordedGame, position_at, read_recorded
from search.rules.position import in_check
from search.rules.shogi import EMPTY, PROMOTE
from search.score import is_mate
from search.system.bounds import MOST_AT_ONCE, check_numbers

LATE = 24
"""Moves before a game's end from which on its positions are searched again."""
FROM_DEPTH = 4
"""The least depth whose step from the one before it is told: the first ones are hardly searches."""


@dataclass(frozen=True)
class HealthOptions:
    """Which search is examined, on what."""

    engine: str
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
    """NAME=VALUE options of the engine, as `judge moves` takes them."""
    each_step: bool = False
    """Compare also the search with each of its steps left out; in process."""
    seed: int = 1
    """Another seed takes other games, and other positions of a game."""
    workers: int = 1
    """Positions at a time."""


def examine(options: HealthOptions) -> dict[str, Any]:
    """{engine, positions, teacher, long_nodes, variants, steps, again}; raises OSError or ValueError in words.

    `variants` is a list of {name, nodes}, and that one of {nodes, mean, error, positive, sign_accuracy, rmse, as_long}:
    of the scores of quiet positions, as `teacher` is of the labels; rmse is the root of the mean squared difference
    from those. `steps` tells by {to_depth, mean, error, size} what the score does from depth to depth, `again` what
    became of what was said near games' ends. Scores in centipawns, cut at `losses.CLIP`.
    """
    if not options.nodes:
        raise ValueError("--nodes: name at least one number")
    check_numbers(options, "nodes", "long_nodes", "count")
    check_numbers(options, "balance", least=0)
    check_numbers(options, "workers", most=MOST_AT_ONCE)
    check_numbers(options, "seed", least=0, most=None)
    judged = read_judged(options.engine, options.option, max(options.nodes), options.each_step)
    games = list(read_recorded(options.games))
    order = np.random.default_rng(options.seed).permutation(len(games)).tolist()
    quiet = _first(options.count, (_quiet(games[place], options) for place in order))
    late = _first(options.count, (_late(games[place], options) for place in order))
    if not quiet:
        raise ValueError(f"{options.games[0]}: no quiet position that a score calls balanced")
    task = HealthTask(judged, options.nodes, options.long_nodes)
    jobs = [*(("quiet", position) for position, _ in quiet), *(("again", position) for position, _ in late)]
    made = work_through(task, jobs, len(jobs), options.workers, "positions", goes_on=False)
    labels = np.array([label for _, label in quiet], float)
    made, again = made[: len(quiet)], made[len(quiet) :]
    variants = [
        {"name": name, "nodes": _by_nodes(options.nodes, [row["found"][place] for row in made], made, labels)}
        for place, name in enumerate(judged.variants)
    ]
    return {
        "engine": judged.name,
        "positions": len(quiet),
        "teacher": _level(labels),
        "long_nodes": options.long_nodes,
        "variants": variants,
        "steps": _steps([row["depths"] for row in made]),
        "again": _again(again),
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
    mean, error = mean_and_error(scores)
    return {"mean": mean, "error": error, "positive": round(float((scores > 0).mean()), 4)}


def _by_nodes(
    nodes: Sequence[int], found: list[list[Any]], made: list[dict[str, Any]], labels: np.ndarray
) -> list[dict[str, Any]]:
    """`found` holds for each position [score, move] by nodes."""
    rows = []
    for place, limit in enumerate(nodes):
        scores = np.array([clipped(one[place][0]) for one in found], float)
        agreed = [one[place][1] == row["long_move"] for one, row in zip(found, made, strict=True)]
        rows.append(
            {
                "nodes": limit,
                **_level(scores),
                "sign_accuracy": round(float((np.sign(scores) == np.sign(labels)).mean()), 4),
                "rmse": round(float(np.sqrt(((scores - labels) ** 2).mean())), 1),
                "as_long": round(float(np.mean(agreed)), 4),
            }
        )
    return rows


def _steps(traces: list[list[tuple[int, int]]]) -> list[dict[str, Any]]:
    """What the score does from a depth to the next, where at least half of the positions have scores of both; the
    traces hold (depth, score)."""
    rows, scores = [], [dict(trace) for trace in traces]
    for depth in range(FROM_DEPTH, 1 + max((depth for found in scores for depth in found), default=0)):
        pairs = [(found[depth - 1], found[depth]) for found in scores if {depth - 1, depth} <= found.keys()]
        if 2 * len(pairs) < len(traces):
            continue
        changes = np.array([clipped(after) - clipped(before) for before, after in pairs], float)
        mean, error = mean_and_error(changes)
        rows.append({"to_depth": depth, "mean": mean, "error": error, "size": round(float(np.abs(changes).mean()), 1)})
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

    judged: Judged
    nodes: tuple[int, ...]
    long_nodes: int

    def open(self) -> HealthWorker:
        return HealthWorker(self)


class HealthWorker:
    """One thread's player."""

    def __init__(self, task: HealthTask) -> None:
        self._task = task
        self._chooser = task.judged.open()

    def stop(self) -> None:
        self._chooser.stop()

    def run(self, job: tuple[str, GamePosition]) -> Product:
        kind, position = job
        return product_of(self._examine(position) if kind == "quiet" else self._search_again(position))

    def _afresh(self, position: GamePosition, nodes: int, variant: int = 0) -> Choice:
        return choose_in_game(self._chooser, position, nodes, 0, variant)

    def _examine(self, position: GamePosition) -> dict[str, Any]:
        """{found, long_move, depths}: by variants and nodes [score, move]; of the long search its move, and (depth,
        score) of each depth."""
        long = self._afresh(position, self._task.long_nodes)
        found = [
            [self._afresh(position, nodes, place) for nodes in self._task.nodes]
            for place in range(len(self._task.judged.variants))
        ]
        told = [[(choice.score, choice.move) for choice in choices] for choices in found]
        return {"found": told, "long_move": long.move, "depths": [(depth, score) for depth, _, score in long.trace]}

    def _search_again(self, position: GamePosition) -> dict[str, Any]:
        """{position, first, move, again, again_move, afresh}: a search, the same with the table that it left, and a
        long one without."""
        nodes = self._task.nodes[-1]
        first = self._afresh(position, nodes)
        again = self._chooser.search(position, nodes)
        afresh = self._afresh(position, self._task.long_nodes).score if is_mate(first.score) else first.score
        return {
            "position": position.text,
            "first": first.score,
            "move": first.move,
            "again": again.score,
            "again_move": again.move,
            "afresh": afresh,
        }
