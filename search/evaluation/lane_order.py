"""An order of a network's lanes in which AVX2 adds the products of more inputs as int16.

Any order gives the same values. Several large weights of one output whose products are added in one int16 number would
overflow it; apart from one another they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from search.evaluation.kernels import GROUP, TOGETHER, groups_together
from search.evaluation.network import PAIRWISE, EvalNetwork


def balance_lanes(net: EvalNetwork, counts: Sequence[int] = TOGETHER) -> EvalNetwork:
    """Return the same function of a position, with lanes in an order that suits `groups_together` with these counts.

    The network itself is returned where its order is as good, where the only count is 1, and if it has shards, which
    name inputs by their numbers. The two lanes of a pairwise product stay a pair.
    """
    weight = net.layers[0].weight
    inputs = weight.shape[-1]
    stored = groups_together(weight, inputs, counts)
    if stored == counts[-1] or net.shards is not None:
        return net
    count = net.width // 2 if net.activation == PAIRWISE else net.width
    order = _dealt(weight, count, counts[-1])
    columns = np.concatenate([first + order for first in range(0, inputs, count)])
    layer = replace(net.layers[0], weight=weight[..., columns])
    if groups_together(layer.weight, inputs, counts) <= stored:
        return net
    lanes = np.concatenate([first + order for first in range(0, net.width, count)])
    return replace(net, rows=np.take(net.rows, lanes, axis=1), bias=net.bias[lanes], layers=(layer, *net.layers[1:]))


def _dealt(weight: np.ndarray, count: int, together: int) -> np.ndarray:
    """Return an order int64 [count] of the inputs of a view, for weights int8 [..., outputs, views * count].

    Inputs are dealt one by one, those with the largest weights first, each to the int16 sum that then is least.
    A sum has the products of half of each of `together` groups.
    """
    half = GROUP // 2
    views = weight.reshape(-1, weight.shape[-2] * weight.shape[-1] // count, count).astype(np.int64)
    parts = np.concatenate([np.maximum(sign * views, 0).max(0) for sign in (1, -1)])  # the largest of all stacks
    members: list[list[int]] = [[] for _ in range(count // (half * together))]
    sums = np.zeros((len(parts), len(members)), np.int64)
    for lane in np.argsort(-parts.max(0), kind="stable"):
        after = (sums + parts[:, lane, None]).max(0)
        free = [number for number, one in enumerate(members) if len(one) < half * together]
        best = min(free, key=after.__getitem__)
        members[best].append(int(lane))
        sums[:, best] += parts[:, lane]
    # A group of four inputs has two in each of two sums.
    return np.array(members).reshape(-1, 2, together, half).swapaxes(1, 2).reshape(-1)
