"""What the file and rank units of a lite network see: its first layer has C of them for each file and for each rank.

A unit of a file is one channel of the convolution along the ranks, on that file's nine squares and the hands; of a rank
likewise. Folded, they are lanes among others: only the trained network says which is which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from search.evaluation.leave_one_out import LeftOut
from search.rules.shogi import WHITE
from search.score import CP_PER_LOGIT

LINES = 9


def line_units(net: str, left: LeftOut, turn: int) -> tuple[dict[str, Any] | None, str]:
    """The units of a trained network on a position (row 0 of `left`): {files, ranks}, or None and why there are none.

    Each line in Black's coordinates: {name, activations, contribution_cp}. activations: of its C channels (of a dual
    activation the clipped ones, then the squared), the mover's view, then that of the other side where the network has
    two. contribution_cp: the mover's value less the value with all of the line's units silent (0). Raises OSError or
    ValueError as `load_model`.
    """
    from export.folded import fold
    from export.positions import Sample
    from lite.networks.lite_value import LiteValueNetwork
    from lite.training.checkpoint import load_model

    model, training = load_model(net)
    if not isinstance(model, LiteValueNetwork) or model.layout != "board":
        return None, "the network has no units of files and ranks"
    if model.kings.mirrored:
        return None, "the network's units of files are of one wing or the other, by where the king stands"
    scale = float(training.get("cp_per_logit", CP_PER_LOGIT))
    folded = fold(model)
    position = Sample(left.pieces[:1], left.hands[:1], left.in_check[:1], None, net)
    first, bucket = folded.activations(position)[0], folded.buckets_of(position)
    # In the order of the outputs: view, part, ranks before files, channel, line; then lines as Black counts them.
    shape = (model.perspectives, model.activates.parts, len(model.directions), model.channels, LINES)
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
    lines: dict[str, list[dict[str, Any]]] = {}
    for axis, (kind, names) in enumerate((("ranks", "abcdefghi"), ("files", "123456789"))):
        lines[kind] = [
            {
                "name": name,
                "activations": [round(one, 4) for one in units[:, :, axis, :, line].ravel().tolist()],
                "contribution_cp": round(float(value - without[axis, line]) * scale),
            }
            for line, name in enumerate(names)
        ]
    return lines, ""
