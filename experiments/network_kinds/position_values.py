"""Static evaluation of positions by a network of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.network_kinds.kind import Kind, kind_of
from search.evaluation.network import EvalNetwork, centipawns_reference
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_batch, evaluate_sfens, set_game_with_kings
from search.rules.position import new_position
from search.rules.shogi import HAND_KINDS, SQUARES
from search.rules.view import view_position
from search.score import CP_PER_LOGIT, win_rate


@dataclass(frozen=True)
class PositionValue:
    """A network's evaluation of one position, from the mover's view."""

    score_cp: int
    """Centipawns, on the scale that the network was trained with."""
    win_rate: float
    """Expected result, 0 to 1; a draw counts one half."""
    draw: float | None = None
    """Probability of a draw; None if the network has no draw output."""


@dataclass(frozen=True)
class EvaluatedPosition:
    """A position and a network's evaluation of it, from the mover's view."""

    sfen: str
    """The position as it was given."""
    output: int | None
    """Raw integer of the output layer; None for networks other than folded ones."""
    score_cp: int
    """Centipawns, on the scale that the network was trained with."""
    win_rate: float
    """Expected result, 0 to 1; a draw counts one half."""
    draw: float | None
    """Probability of a draw; None if the network has no draw output."""


Valuer = Callable[[np.ndarray, np.ndarray, np.ndarray], list[PositionValue]]
"""Function from the mover's views of positions (pieces, hands and in_check as in `Batch`) to their values."""


def evaluate(network_path: str, sfens: Sequence[str]) -> list[EvaluatedPosition]:
    """Return the static evaluation of each position: `startpos` or an SFEN, optionally with `moves 7g7f ...`.

    Raises OSError, or ValueError for a network that cannot be read and for an invalid position.
    """
    if kind_of(network_path) is Kind.FOLDED:
        return [
            EvaluatedPosition(one.sfen, one.output, one.score_cp, one.win_rate, one.draw)
            for one in evaluate_sfens(load_network(network_path), sfens)
        ]
    arrays = empty_views(len(sfens))
    pos = new_position()
    for number, sfen in enumerate(sfens):
        set_game_with_kings(pos, sfen)
        view_position(pos, *arrays, np.int64(number))
    return [
        EvaluatedPosition(sfen, None, value.score_cp, value.win_rate, value.draw)
        for sfen, value in zip(sfens, load_valuer(network_path)(*arrays), strict=True)
    ]


def empty_views(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return arrays for the mover's view of `count` positions: pieces u1 (B, 81), hands u1 (B, 14), in_check (B,)."""
    return (
        np.zeros((count, SQUARES), np.uint8),
        np.zeros((count, 2 * HAND_KINDS), np.uint8),
        np.zeros(count, np.bool_),
    )


def load_valuer(network_path: str) -> Valuer:
    """Load a network of any kind as a function from positions to values. Raises OSError or ValueError."""
    kind, scale = kind_of(network_path), CP_PER_LOGIT
    if kind is Kind.FOLDED:
        return _folded_valuer(load_network(network_path))
    if kind.has_policy:
        from experiments.resnet.network import load_resnet
        from experiments.resnet.testing import load_predictor

        if kind is Kind.POLICY_VALUE:
            scale = load_resnet(network_path)[1].cp_per_logit or CP_PER_LOGIT
        predict_all = load_predictor(network_path)

        def by_policy_network(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[PositionValue]:
            predicted = predict_all(_batch(pieces, hands, in_check))
            return _values(predicted.value, scale, predicted.draw)

        return by_policy_network
    from lite.training.checkpoint import load_model
    from lite.training.testing import load_predictor as load_value_predictor

    if kind is Kind.VALUE:
        scale = load_model(network_path)[1].cp_per_logit or CP_PER_LOGIT
    predict = load_value_predictor(network_path)

    def by_value_network(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[PositionValue]:
        value, *draw = predict(_batch(pieces, hands, in_check)).T
        return _values(value, scale, *draw)

    return by_value_network


def _folded_valuer(network: EvalNetwork) -> Valuer:
    def values(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[PositionValue]:
        outputs = evaluate_batch(network, pieces, hands, in_check)
        scores = centipawns_reference(network, outputs[:, 0].tolist())
        rates, *draws = ([win_rate(network.logit(output), 1.0) for output in column] for column in outputs.T.tolist())
        return [PositionValue(*value) for value in zip(scores, rates, *draws, strict=True)]

    return values


def _values(logits: np.ndarray, scale: float, draws: np.ndarray | None = None) -> list[PositionValue]:
    draw_rates = [None] * len(logits) if draws is None else [win_rate(draw, 1.0) for draw in draws.tolist()]
    return [
        PositionValue(round(logit * scale), win_rate(logit * scale, scale), draw)
        for logit, draw in zip(logits.tolist(), draw_rates, strict=True)
    ]


def _batch(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> Any:
    """Return the positions as a batch of records without moves, scores or results."""
    from lite.records.batch import as_batch, labelled_dtype

    return replace(as_batch(np.zeros(len(pieces), labelled_dtype)), pieces=pieces, hands=hands, in_check=in_check)
