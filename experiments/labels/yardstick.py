"""d1-RMSE: the error of a network's win rate after one ply and quiescence, against long searches; and against results.

A search evaluates positions whose exchanges are settled, so the measure settles them too: it compares the
win rate of a search to depth 1 with that of a search of many nodes, on varied positions. It correlates with strength in
games, which accuracy on played positions does not. Long searches share the errors of their network. Results of games do
not, so where positions have them, the measure also predicts those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.labels.labels import LOGIT_LIMIT
from experiments.labels.study import SEARCH, UNLABELLED, Studio
from experiments.labels.yardstick_games import read_games
from lite.progress_line import Watch
from lite.records.batch import labelled_dtype
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, NO_GAME, hcpe_dtype, record_files
from lite.run_folder import find_run
from lite.training.metrics import clustered_error, log_losses
from lite.training.targets import score_win_rates
from search.evaluation.network_file import load_network
from search.rules.huffman import HCP
from search.score import CP_PER_LOGIT
from search.system.options import OptionError

SCALES = np.arange(200, 2001, 20)
"""Centipawns per logit that are tried for the network's scores."""
HASH_MB = 1
"""Megabytes of the table of the search to depth 1. It is cleared before each position, as older entries would deepen
the search."""


class MissingYardstick(OptionError):
    """The error for a yardstick that is not there; `name` is its path as it was given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`yardstick` {name}: there is no such file or folder; make it", "yardstick")
        self.name = name


class UnfinishedYardstick(OptionError):
    """The error for a folder that lacks positions because its run has not ended; `arguments` resume it."""

    def __init__(self, path: Path, arguments: Sequence[str]) -> None:
        super().__init__(f"`yardstick` {path}: is unfinished, so figures would change; resume it", "yardstick")
        self.arguments = tuple(arguments)


@dataclass(frozen=True)
class D1:
    """The d1-RMSE of a network on a yardstick."""

    rmse: float
    """Root mean square error of the win rate."""
    error: float
    """Standard error of `rmse`, with every position as one observation."""
    scale: int
    """Centipawns per logit that suit the network best."""
    positions: int
    """Positions measured."""
    refusals: Refusals
    """Records of the yardstick that could not be used."""

    def figures(self) -> D1Figures:
        """Return the figures under names that stand beside those of other measurements."""
        refused = self.refusals.figures()
        return D1Figures(
            d1_rmse=self.rmse,
            d1_rmse_error=self.error,
            d1_scale=self.scale,
            d1_positions=self.positions,
            d1_records_read=refused.records_read,
            d1_refused=refused.refused,
            d1_first_refused=refused.first_refused,
        )


@dataclass(frozen=True)
class D1Figures:
    """Figures of `D1` as results and JSON name them."""

    d1_rmse: float
    """Error of the win rate after one ply and quiescence against long searches."""
    d1_rmse_error: float
    """Standard error of `d1_rmse`."""
    d1_scale: int
    """Centipawns per logit that suit the network best."""
    d1_positions: int
    """Number of positions of the yardstick."""
    d1_records_read: int
    """Number of records of the yardstick that were read."""
    d1_refused: dict[str, int]
    """Number of refused records of the yardstick by reason."""
    d1_first_refused: tuple[str, ...]
    """The first refused records of the yardstick."""


@dataclass(frozen=True)
class ResultPrediction:
    """Quality of a network's predictions of games' results by the score after one ply and quiescence.

    The names of the fields are those of JSON, where they stand beside other figures.
    """

    result_log_loss: float
    """Log loss of the win rate after one ply and quiescence against results, in nats; a draw is half a win."""
    result_log_loss_error: float | None
    """Standard error of `result_log_loss`: over the games, or over positions where `result_games` is None."""
    result_accuracy: float | None
    """Share of winners that this win rate predicts, without draws; None if every game was drawn."""
    result_accuracy_error: float | None
    """Standard error of `result_accuracy`: over the games, or over positions where `result_games` is None."""
    result_scale: int
    """Centipawns per logit that suit the network best for predicting results."""
    result_positions: int
    """Number of positions of the yardstick with results."""
    result_games: int | None
    """Number of games of these positions; None where the yardstick does not know them. Errors then take every position
    as one observation, so they are too small."""
    result_refused: dict[str, int]
    """Number of refused records of the yardstick by reason."""


@dataclass(frozen=True)
class YardstickFigures:
    """The figures of a network on a yardstick."""

    d1: D1 | None
    """Figures against the scores; None if no position has a score."""
    results: ResultPrediction | None
    """Figures against the results; None if no position has a game."""
    refusals: Refusals
    """Records of the yardstick that could not be used."""

    def figures(self) -> list[D1Figures | ResultPrediction]:
        """Return the known figures under names that stand beside those of other measurements."""
        found = [] if self.d1 is None else [self.d1.figures()]
        return [*found, *([] if self.results is None else [self.results])]


def check_yardstick(data: Sequence[Path]) -> None:
    """Raise MissingYardstick, UnfinishedYardstick, OSError or RecordError if networks cannot be measured on records."""
    for path in data:
        if not path.exists():
            raise MissingYardstick(str(path))
        run = find_run(path) if path.is_dir() else None
        if run is not None and run.state != "done":
            raise UnfinishedYardstick(path, run.arguments)
    record_files(data)


def check_scores(data: Sequence[Path]) -> None:
    """Raise as `check_yardstick`, also for a yardstick on which no d1-RMSE can be measured: of results, without scores.

    Call it before training networks that are measured by `measure_d1`."""
    check_yardstick(data)
    for path in record_files(data):
        file = RecordFile(path, check_moves=False)
        if any(file.read_block(block, Refusals())["scored"].any() for block in file.blocks):
            return
    raise _without_scores(data)


def _without_scores(data: Sequence[Path]) -> OptionError:
    return OptionError(
        f"`yardstick` {data[0]}: no position has a score, and d1-RMSE needs scores of long searches; make a yardstick "
        "with `truth` searches",
        "yardstick",
        "truth",
    )


def measure_d1(network_path: str, data: Sequence[Path]) -> D1:
    """Measure a network on the positions with search scores. Raises OSError or ValueError."""
    positions, refusals, _ = _read(data)
    positions = positions[positions["scored"]]
    if not len(positions):
        raise _without_scores(data)
    return _against_scores(_searched(network_path, positions), positions["score"], refusals)


def measure_yardstick(network_path: str, data: Sequence[Path], watch: Watch | None = None) -> YardstickFigures:
    """Measure a network on records with search scores, with results, or with both.

    watch: takes the number of positions that are searched, and of all.
    Raises as `check_yardstick`, OSError, or ValueError where records have neither.
    """
    check_yardstick(data)
    positions, refusals, games = _read(data)
    scored, played = positions["scored"], positions["kind_of_result"] & NO_GAME == 0
    if not (scored | played).any():
        raise ValueError(f"{data[0]}: no position has a score or a game; a yardstick needs one of them")
    found = _searched(network_path, positions, watch)
    return YardstickFigures(
        _against_scores(found[scored], positions["score"][scored], refusals) if scored.any() else None,
        _against_results(found[played], positions["result"][played], games[played], refusals) if played.any() else None,
        refusals,
    )


def _searched(network_path: str, positions: np.ndarray, watch: Watch | None = None) -> np.ndarray:
    """Return the scores int16 (n,) of a network's searches to depth 1 of `labelled_dtype` positions."""
    codes = np.ascontiguousarray(position_records(positions, HCPE, HCP).view(hcpe_dtype)["hcp"])
    studio = Studio(load_network(network_path), HASH_MB)
    found = np.empty(len(codes), np.int16)
    for place in range(len(codes)):
        studio.forget()
        found[place] = studio.study(codes[place : place + 1], SEARCH, depth=1)[0][0]
        if watch is not None:
            watch(place + 1, len(codes))
    return found


def _against_scores(found: np.ndarray, scores: np.ndarray, refusals: Refusals) -> D1:
    """Compare a network's scores with those of long searches.

    The long searches' scores become win rates by CP_PER_LOGIT, the network's scores by the scale that suits it best.
    The error is the standard error of the mean square, propagated to the root.
    """
    known = found != UNLABELLED
    wanted = score_win_rates(scores[known], CP_PER_LOGIT)
    squares = [(score_win_rates(found[known], float(scale)) - wanted) ** 2 for scale in SCALES]
    best = int(np.argmin([square.mean() for square in squares]))
    rmse = float(np.sqrt(squares[best].mean()))
    error = float(squares[best].std() / np.sqrt(known.sum()) / max(2 * rmse, 1e-12))
    return D1(rmse, error, int(SCALES[best]), int(known.sum()), refusals)


def _against_results(found: np.ndarray, results: np.ndarray, games: np.ndarray, refusals: Refusals) -> ResultPrediction:
    """Compare a network's scores int16 (n,) with the movers' results: 1 win, 0.5 draw, 0 loss.

    games: the game of each position; where one is unknown (-1), all positions are taken as independent."""
    known = found != UNLABELLED
    scores, results = found[known].astype(np.float64), results[known].astype(np.float64)
    losses = [log_losses(np.clip(scores / scale, -LOGIT_LIMIT, LOGIT_LIMIT), results) for scale in SCALES]
    best = int(np.argmin([loss.mean() for loss in losses]))
    decided, games = results != 0.5, games[known]
    is_known = bool((games >= 0).all())
    clusters = games if is_known else np.arange(len(games))
    hits = (scores[decided] >= 0) == (results[decided] > 0.5)
    return ResultPrediction(
        result_log_loss=float(losses[best].mean()),
        result_log_loss_error=clustered_error(losses[best], clusters),
        result_accuracy=float(hits.mean()) if len(hits) else None,
        result_accuracy_error=clustered_error(hits, clusters[decided]),
        result_scale=int(SCALES[best]),
        result_positions=len(scores),
        result_games=len(np.unique(games)) if is_known else None,
        result_refused=refusals.figures().refused,
    )


def _read(data: Sequence[Path]) -> tuple[np.ndarray, Refusals, np.ndarray]:
    """Return the positions of record files (`labelled_dtype`) that have a score or a game, the refusals, and the
    positions' games, -1 where unknown."""
    found, refusals = [np.zeros(0, labelled_dtype)], Refusals()
    for path in record_files(data):
        file = RecordFile(path, check_moves=False)
        refusals.add(file.lost)
        for block in file.blocks:
            found.append(file.read_block(block, refusals))
    positions = np.concatenate(found)
    games = None if refusals.refused else read_games(data, len(positions))
    if games is None:
        games = np.full(len(positions), -1, np.int32)
    usable = positions["scored"] | (positions["kind_of_result"] & NO_GAME == 0)
    return positions[usable], refusals, games[usable]
