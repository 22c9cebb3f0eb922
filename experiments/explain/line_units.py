"""File and rank units of a lite network on a position.

The network's first layer has C units for each file and C for each rank. A unit of a file is one channel of the
convolution along the ranks, on that file's nine squares and the hands; a unit of a rank is one channel along the files.
Only the trained network shows which unit belongs to which line: folded, they are lanes among others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from search.evaluation.leave_one_out import LeftOut
from search.rules.shogi import WHITE
from search.score import CP_PER_LOGIT

LINES = 9


@dataclass(frozen=True)
class LineFigures:
    """The units of one file or rank, in Black's coordinates."""

    name: str
    """`1` to `9` for a file, `a` to `i` for a rank."""
    activations: tuple[float, ...]
    """Activation of each of the C channels: the mover's view, then the opponent's view if the network has two. A dual
    activation has the clipped values, then the squared ones."""
    contribution_cp: int
    """The mover's value minus the value with all units of the line set to 0, in centipawns."""


@dataclass(frozen=True)
class LineUnits:
    """The units of all files and ranks."""

    ranks: tuple[LineFigures, ...]
    files: tuple[LineFigures, ...]


class UnitsLeftOut(Enum):
    """Reason why a network has no units to show."""

    NOT_TRAINED = "not trained"
    """The file is not a trained value network."""
    NONE = "none"
    """The network has no units of lines."""
    MIRRORED = "mirrored"
    """The network mirrors the board by the king's wing, so a unit has no fixed file."""


def line_units(network_path: str, left: LeftOut, turn: int) -> LineUnits | UnitsLeftOut:
    """Return the units of a trained network on a position (row 0 of `left`), or the reason why it has none.

    turn: the side to move. Raises OSError or ValueError like `load_model`.
    """
    from export.folded import fold
    from export.positions import Sample
    from lite.networks.lite_value import LiteValueNetwork
    from lite.training.checkpoint import load_model

    model, training = load_model(network_path)
    if not isinstance(model, LiteValueNetwork) or model.layout != "board":
        return UnitsLeftOut.NONE
    if model.kings.mirrored:
        return UnitsLeftOut.MIRRORED
    scale = training.cp_per_logit or CP_PER_LOGIT
    folded = fold(model)
    position = Sample(left.pieces[:1], left.hands[:1], left.in_check[:1], None, network_path)
    first, bucket = folded.activations(position)[0], folded.selected(position)
    # Outputs are in the order view, part, axis (ranks first), channel, line. Reverse lines to Black's coordinates.
    parts = 1 + (model.activates.clipped and model.activates.squared)
    channels = model.activates.input_count(model.channels) // parts
    shape = (model.perspectives, parts, len(model.directions), channels, LINES)
    units = first.reshape(shape).copy()
    whites_view = slice(0, 1) if turn == WHITE else slice(1, 2)
    units[whites_view] = units[whites_view, ..., ::-1]
    silenced = np.repeat(units[None], 2 * LINES, 0)
    for number in range(2 * LINES):
        axis, line = divmod(number, LINES)
        silenced[number, :, :, axis, :, line] = 0
    silenced[:, whites_view] = silenced[:, whites_view, ..., ::-1]
    (value,) = folded.activations_from(first, bucket)[-1][:, 0]
    silenced, bucket = silenced.reshape(2 * LINES, -1), np.repeat(bucket, 2 * LINES)
    without = folded.activations_from(silenced, bucket)[-1][:, 0].reshape(2, LINES)
    ranks, files = (
        tuple(
            LineFigures(
                name,
                tuple(round(one, 4) for one in units[:, :, axis, :, line].ravel().tolist()),
                round(float(value - without[axis, line]) * scale),
            )
            for line, name in enumerate(names)
        )
        for axis, names in enumerate(("abcdefghi", "123456789"))
    )
    return LineUnits(ranks, files)
