"""How good a value network is on held-out positions: accuracy, log loss, Brier score, calibration, by bands.

Two conventions for draws are in use and differ by up to a point, so both are given: `accuracy` leaves drawn games out;
`accuracy_draw_as_win` counts a draw as a win for the mover, as dlshogi does. A logit of exactly 0 predicts a win.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lite.records.formats import NO_GAME
from lite.training.targets import sigmoid
from search.evaluation.material import PIECE_VALUE
from search.rules.shogi import EMPTY, HAND_KINDS

PLY_BANDS = (0, 20, 40, 60, 80, 100, 120, 160)
PIECE_BANDS = (0, 20, 24, 28, 32, 36, 38, 40)
"""Pieces on the board stand in for the ply where a format does not tell it: forty at the start, fewer later."""
SCORE_BANDS = (0, 100, 300, 600, 1000, 2000, 30000)
CALIBRATION_BINS = 10


def material(pieces: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Mover's material less the enemy's in centipawns, i8 (B,), from a batch's pieces (B, 81) and hands (B, 14)."""
    by_piece = np.concatenate((PIECE_VALUE, -PIECE_VALUE, [0]))
    by_hand = np.concatenate((PIECE_VALUE[:HAND_KINDS], -PIECE_VALUE[:HAND_KINDS]))
    return np.asarray(by_piece[pieces].sum(1) + hands.astype(np.int64) @ by_hand)


def log_losses(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Binary cross entropy f8 of each logit against a target 0..1, exact for large logits."""
    logits = logits.astype(np.float64)
    return np.asarray(np.logaddexp(0, logits) - logits * targets)


def require_finite(net: str, outputs: np.ndarray, before: int) -> None:
    """Raises ValueError that names the net if an output (B, ...) of it is no number; `before` positions came before."""
    bad = ~np.isfinite(outputs.reshape(len(outputs), -1)).all(1)
    if bad.any():
        raise ValueError(
            f"{net}: gives {bad.sum()} of {len(bad)} positions no number, the first is position "
            f"{before + int(bad.argmax()) + 1} of the records: its weights are broken; train or export it again"
        )


def require_games(report: dict[str, Any], data: Sequence[Path]) -> dict[str, Any]:
    """The report of `Metrics`. Raises ValueError that names the files if no game stands behind their positions."""
    if not report["positions"]:
        raise no_games(data)
    return report


def no_games(data: Sequence[Path]) -> ValueError:
    """Why nothing can be predicted of files of positions without games, which it names."""
    names = ", ".join(map(str, data))
    return ValueError(
        f"{names}: no game stands behind any of the positions, so no result can be predicted: test on games"
    )


def _rate(hits: np.ndarray) -> float | None:
    return float(hits.mean()) if len(hits) else None


def summarise(logits: np.ndarray, result: np.ndarray) -> dict[str, Any]:
    """The figures of one set of positions; logits f (B,), result 1 win, 0.5 draw, 0 loss, both the mover's.

    A figure without a position to stand on is None.
    """
    if not len(logits):
        return dict.fromkeys(("accuracy", "accuracy_draw_as_win", "log_loss", "brier")) | {"positions": 0}
    decided = result != 0.5
    rate = sigmoid(logits)
    return {
        "positions": len(logits),
        "accuracy": _rate((logits[decided] >= 0) == (result[decided] > 0.5)),
        "accuracy_draw_as_win": _rate((logits >= 0) == (result >= 0.5)),
        "log_loss": _rate(log_losses(logits, result)),
        "brier": _rate((rate - result) ** 2),
    }


def calibrate(logits: np.ndarray, result: np.ndarray) -> list[dict[str, Any]]:
    """Predicted against actual mean result in equal bins of the predicted win rate; empty bins are left out."""
    rate = sigmoid(logits)
    bins = np.minimum((rate * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    return [
        {
            "positions": int(inside.sum()),
            "predicted": float(rate[inside].mean()),
            "actual": float(result[inside].mean()),
        }
        for inside in (bins == index for index in range(CALIBRATION_BINS))
        if inside.any()
    ]


def _bands(values: np.ndarray, edges: tuple[int, ...], unit: str) -> list[tuple[str, np.ndarray]]:
    place = np.searchsorted(edges, values, "right") - 1
    names = [f"{low}-{high - 1}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
    return [(f"{unit} {name}", place == index) for index, name in enumerate(names)]


class Metrics:
    """Collects predictions batch by batch (about 20 bytes a position), then `report()`s them."""

    def __init__(self) -> None:
        self._columns: dict[str, list[np.ndarray]] = {}

    def add(self, logits: np.ndarray, batch: Any) -> None:
        """One `lite.records.decode.Batch` and the logits (B,) of a net for it; positions without a game are passed
        over, as there is no result to judge by."""
        played = np.asarray(batch.kind_of_result) & NO_GAME == 0
        columns = {
            "logits": np.asarray(logits, np.float32),
            "result": np.asarray(batch.result, np.float32),
            "score": np.asarray(batch.score, np.int16),
            "scored": np.asarray(batch.scored, bool),
            "ply": np.asarray(batch.ply, np.int32),
            "pieces": (batch.pieces != EMPTY).sum(1).astype(np.uint8),
            "material": material(batch.pieces, batch.hands).astype(np.int32),
        }
        for name, column in columns.items():
            self._columns.setdefault(name, []).append(column[played])

    def report(self) -> dict[str, Any]:
        """All figures: overall, `material_accuracy`, `calibration` and its mean error, `by_ply`, `by_score`; where no
        game stands behind any of the positions, None of each, and no bands."""
        if not self._columns:
            raise ValueError("no positions to judge a net by")
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
        return {
            **summarise(logits, result),
            "draws": int((~decided).sum()),
            # Even material guesses: half right.
            "material_accuracy": _rate((1 + lead * np.sign(result[decided] - 0.5)) / 2),
            "calibration_error": sum(b["positions"] * abs(b["predicted"] - b["actual"]) for b in bins) / len(logits)
            if bins
            else None,
            "calibration": bins,
            "by_ply": [{"band": name} | summarise(logits[at], result[at]) for name, at in by_ply if at.any()],
            "by_score": [{"band": name} | summarise(logits[at], result[at]) for name, at in by_score if at.any()],
        }
