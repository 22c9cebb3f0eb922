"""Quality of a value network's predictions on held-out games: accuracy, log loss, Brier score, calibration.

Two conventions for draws are in use and differ by up to a point, so both are reported: `accuracy` leaves drawn games
out; `accuracy_draw_as_win` counts a draw as a win for the mover, as dlshogi does. A logit of exactly 0 predicts a win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from lite.records.batch import Batch
from lite.records.formats import NO_GAME
from lite.training.targets import sigmoid
from search.evaluation.material import PIECE_VALUE
from search.rules.shogi import EMPTY, HAND_KINDS

PLY_BANDS = (0, 20, 40, 60, 80, 100, 120, 160)
PIECE_BANDS = (0, 20, 24, 28, 32, 36, 38, 40)
"""Pieces on the board, which stand in for an unknown ply: 40 at the start, fewer later."""
SCORE_BANDS = (0, 100, 300, 600, 1000, 2000, 30000)
CALIBRATION_BINS = 10
WHOLE_GAMES = 0.9
"""Least share of next positions one ply later, of those at a later ply with the same result, in records of games. Whole
games have all but those that were refused; one position in random order has about 0.02."""


@dataclass(frozen=True)
class Summary:
    """Figures of a set of positions; None where no position has one."""

    positions: int
    accuracy: float | None
    """Share of positions of decided games whose winner is predicted."""
    accuracy_draw_as_win: float | None
    """Share of positions whose result is predicted, where a draw counts as a win for the mover."""
    log_loss: float | None
    """Mean binary cross-entropy against the result, in nats."""
    brier: float | None
    """Mean squared error of the win rate."""
    accuracy_error: float | None = field(default=None, kw_only=True)
    """Standard error of `accuracy`. The positions of a game are one observation, for this and the other errors; they
    are None where the records do not separate games."""
    accuracy_draw_as_win_error: float | None = field(default=None, kw_only=True)
    """Standard error of `accuracy_draw_as_win`."""
    log_loss_error: float | None = field(default=None, kw_only=True)
    """Standard error of `log_loss`."""
    brier_error: float | None = field(default=None, kw_only=True)
    """Standard error of `brier`."""


@dataclass(frozen=True)
class Band(Summary):
    """Figures of the positions in one band of plies or scores."""

    band: str


@dataclass(frozen=True)
class CalibrationBin:
    """Positions whose predicted win rates lie in one bin."""

    positions: int
    predicted: float
    """Mean predicted win rate of the bin's positions."""
    actual: float
    """Mean result of the bin's positions, 0 to 1."""


@dataclass(frozen=True)
class Report(Summary):
    """All figures of a value network on held-out positions of games."""

    games: int | None
    """Number of games that the positions come from; None where the records do not separate games."""
    draws: int
    """Number of positions of drawn games."""
    material_accuracy: float | None
    """`accuracy` of predicting by material alone; even material counts half."""
    calibration_error: float | None
    """Mean absolute difference of predicted and actual results over the bins."""
    calibration: tuple[CalibrationBin, ...]
    """Predicted and actual results in bins of the predicted win rate."""
    by_ply: tuple[Band, ...]
    """Figures by the number of moves before the position, or by pieces on the board if that is unknown."""
    by_score: tuple[Band, ...]
    """Figures by the size of the score in centipawns."""
    material_accuracy_error: float | None = field(default=None, kw_only=True)
    """Standard error of `material_accuracy`."""

    def accuracy_text(self) -> str:
        """Return `accuracy` with its standard error in per cent, `65.16 +- 1.33 %`; empty without an accuracy."""
        return percent(self.accuracy, self.accuracy_error)


def percent(share: float | None, error: float | None = None) -> str:
    """Return a share with its standard error, where it is known, in per cent; empty without a share."""
    if share is None:
        return ""
    return f"{100 * share:.2f} %" if error is None else f"{100 * share:.2f} +- {100 * error:.2f} %"


def material(pieces: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Return the mover's material minus the enemy's in centipawns, i8 (B,).

    pieces (B, 81) and hands (B, 14) are as in `Batch`.
    """
    by_piece = np.concatenate((PIECE_VALUE, -PIECE_VALUE, [0]))
    by_hand = np.concatenate((PIECE_VALUE[:HAND_KINDS], -PIECE_VALUE[:HAND_KINDS]))
    return np.asarray(by_piece[pieces].sum(1) + hands.astype(np.int64) @ by_hand)


def log_losses(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the binary cross-entropy f8 of each logit against a target 0..1; exact for large logits."""
    logits = logits.astype(np.float64)
    return np.asarray(np.logaddexp(0, logits) - logits * targets)


def require_finite(network_path: str, outputs: np.ndarray, before: int) -> None:
    """Raise ValueError that names the network if one of its outputs (B, ...) is not finite.

    `before` is the number of positions in earlier batches.
    """
    bad = ~np.isfinite(outputs.reshape(len(outputs), -1)).all(1)
    if bad.any():
        raise ValueError(
            f"{network_path}: its output for {bad.sum()} of {len(bad)} positions is not finite, first for position "
            f"{before + int(bad.argmax()) + 1} of the records: the weights are damaged; train or export it again"
        )


def no_games(data: Sequence[Path]) -> ValueError:
    """Return the error of record files whose positions come from no game."""
    names = ", ".join(map(str, data))
    return ValueError(f"{names}: no position comes from a game, so there is no result to predict; test on games")


def summarise(logits: np.ndarray, result: np.ndarray, games: np.ndarray | None = None) -> Summary:
    """Return the figures of positions: logits f (B,); result 1 win, 0.5 draw, 0 loss, both of the mover.

    games: number of each position's game (B,), see `games_of`; None means unknown, which leaves the errors None.
    """
    if not len(logits):
        return Summary(0, None, None, None, None)
    decided = result != 0.5
    hits = (logits[decided] >= 0) == (result[decided] > 0.5)
    hits_draw_as_win = (logits >= 0) == (result >= 0.5)
    losses, squares = log_losses(logits, result), (sigmoid(logits) - result) ** 2
    return Summary(
        positions=len(logits),
        accuracy=_mean(hits),
        accuracy_draw_as_win=_mean(hits_draw_as_win),
        log_loss=_mean(losses),
        brier=_mean(squares),
        accuracy_error=_error(hits, games, decided),
        accuracy_draw_as_win_error=_error(hits_draw_as_win, games),
        log_loss_error=_error(losses, games),
        brier_error=_error(squares, games),
    )


def calibrate(logits: np.ndarray, result: np.ndarray) -> tuple[CalibrationBin, ...]:
    """Return predicted and actual mean results in equal bins of the predicted win rate, without empty bins."""
    rate = sigmoid(logits)
    bins = np.minimum((rate * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    return tuple(
        CalibrationBin(int(inside.sum()), float(rate[inside].mean()), float(result[inside].mean()))
        for inside in (bins == index for index in range(CALIBRATION_BINS))
        if inside.any()
    )


def games_of(ply: np.ndarray, black_result: np.ndarray) -> np.ndarray | None:
    """Return the number of each position's game i8 (B,), from 0, of positions in the order of their files.

    A game begins where the ply does not rise or the result changes. None where records do not separate games: a ply is
    unknown (-1), or plies do not rise by one, because positions are in random order or a few of each game. Such
    positions of one game cannot be found again, and errors that take them as independent are several times too small.
    """
    if not len(ply) or (ply < 0).any():
        return None
    rise = np.diff(ply.astype(np.int64))
    goes_on = (rise > 0) & (np.diff(black_result) == 0)
    if (rise[goes_on] == 1).sum() < WHOLE_GAMES * goes_on.sum():
        return None
    return np.concatenate(([0], np.cumsum(~goes_on)))


def clustered_error(values: np.ndarray, games: np.ndarray) -> float | None:
    """Return the standard error of the mean of `values` (B,), where the positions of a game are one observation.

    The linearised variance of a ratio (Cochran, Sampling Techniques, 1977, section 2.11). None for fewer than 2 games.
    """
    _, number = np.unique(games, return_inverse=True)
    count = int(number.max()) + 1 if len(number) else 0
    if count < 2:
        return None
    residual = np.bincount(number, values - values.mean(), count)
    return float(np.sqrt(count / (count - 1) * (residual**2).sum()) / len(values))


class Metrics:
    """Collects predictions batch by batch, in about 20 bytes per position."""

    def __init__(self) -> None:
        self._columns: dict[str, list[np.ndarray]] = {}

    def add(self, logits: np.ndarray, batch: Batch) -> None:
        """Add a batch and a network's logits (B,) for it; positions without a game are skipped."""
        played = np.asarray(batch.kind_of_result) & NO_GAME == 0
        result = np.asarray(batch.result, np.float32)
        columns = {
            "logits": np.asarray(logits, np.float32),
            "result": result,
            "black_result": np.where(np.asarray(batch.turn) == 0, result, 1 - result),
            "score": np.asarray(batch.score, np.int16),
            "scored": np.asarray(batch.scored, bool),
            "ply": np.asarray(batch.ply, np.int32),
            "pieces": (batch.pieces != EMPTY).sum(1).astype(np.uint8),
            "material": material(batch.pieces, batch.hands).astype(np.int32),
        }
        for name, column in columns.items():
            self._columns.setdefault(name, []).append(column[played])

    def report(self) -> Report:
        """Return all figures; they are None, and there are no bands, if no position comes from a game. Raises
        ValueError if no batch was added."""
        if not self._columns:
            raise ValueError("no positions to test a network on")
        all_of = {name: np.concatenate(parts) for name, parts in self._columns.items()}
        logits, result, scored, ply = (all_of[name] for name in ("logits", "result", "scored", "ply"))
        size_of_score = np.where(scored, np.abs(all_of["score"].astype(np.int64)), -1)
        bins = calibrate(logits, result)
        known = ply >= 0
        unknown = np.where(known, -1, all_of["pieces"].astype(np.int64))
        by_ply = _bands(np.where(known, ply, -1), PLY_BANDS, "ply") + _bands(unknown, PIECE_BANDS, "pieces on board")
        by_score = [*_bands(size_of_score, SCORE_BANDS, "|score|"), ("no score", ~scored)]
        decided = result != 0.5
        lead = np.sign(all_of["material"][decided])
        right = (1 + lead * np.sign(result[decided] - 0.5)) / 2  # even material guesses: half right
        games = games_of(ply, all_of["black_result"])
        return Report(
            **asdict(summarise(logits, result, games)),
            games=None if games is None else int(games[-1]) + 1,
            draws=int((~decided).sum()),
            material_accuracy=_mean(right),
            material_accuracy_error=_error(right, games, decided),
            calibration_error=sum(one.positions * abs(one.predicted - one.actual) for one in bins) / len(logits)
            if bins
            else None,
            calibration=bins,
            by_ply=_summarised(by_ply, logits, result, games),
            by_score=_summarised(by_score, logits, result, games),
        )


def _summarised(
    bands: Sequence[tuple[str, np.ndarray]], logits: np.ndarray, result: np.ndarray, games: np.ndarray | None
) -> tuple[Band, ...]:
    """Return the figures of each band that has positions. bands: names, and bool (B,) for the positions of each
    band."""
    return tuple(
        Band(**asdict(summarise(logits[at], result[at], None if games is None else games[at])), band=name)
        for name, at in bands
        if at.any()
    )


def _bands(values: np.ndarray, edges: tuple[int, ...], unit: str) -> list[tuple[str, np.ndarray]]:
    """Return the name of each band between edges, and bool (B,) of the values in it; negative values are in none."""
    place = np.searchsorted(edges, values, "right") - 1
    names = [f"{low}-{high - 1}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
    return [(f"{unit} {name}", place == index) for index, name in enumerate(names)]


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _error(values: np.ndarray, games: np.ndarray | None, among: np.ndarray | None = None) -> float | None:
    """Return `clustered_error` of the values of positions; `games` are of all positions, `among` bool marks theirs."""
    return None if games is None else clustered_error(values, games if among is None else games[among])
