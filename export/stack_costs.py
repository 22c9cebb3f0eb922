"""Cost of quantisation by stack: which copies of the layers lose most, and which a sample hardly shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lite.training.metrics import log_losses
from search.evaluation.stacks import HANDS, KING_ZONES, Stacks, axis_size

FEW_POSITIONS = 100
"""Below this number of positions a stack has hardly learnt and its cost is not known well."""


@dataclass(frozen=True)
class StackCost:
    """Cost of the quantisation of one stack: quantised minus float64."""

    stack: int
    """Index of the stack."""
    name: str
    """Values of the index's axes: of hands and kings' zones the mover's, then the other side's."""
    positions: int
    """Positions of the sample that choose the stack."""
    sign_flips: float
    """Share of these positions whose predicted winner changed."""
    largest_error: float
    """Largest error of the logit."""
    mean_error: float
    """Root mean square error of the logit."""
    log_loss_change: float | None
    """Change of the log loss, in nats per position; None without results."""


def stack_name(stacks: Stacks, index: int) -> str:
    """Return the values of a stack's axes as text, such as `k3k3 0-2, progress8 5`."""
    parts = []
    for token in reversed(stacks.tokens):
        index, value = divmod(index, axis_size(token))
        if token in HANDS or token in KING_ZONES:
            classes = round(axis_size(token) ** 0.5)
            parts.append(f"{token} {value // classes}-{value % classes}")
        else:
            parts.append(f"{token} {value}")
    return ", ".join(reversed(parts))


def stack_costs(
    stacks: Stacks, stack: np.ndarray, exact: np.ndarray, found: np.ndarray, result: np.ndarray | None
) -> tuple[StackCost, ...]:
    """Return the cost of each stack that positions choose, in the order of the index; none if there is one stack.

    stack int64 (B,); exact and found: logits f8 (B,) in float64 and in integers; result: of `Sample`.
    """
    if stacks.count == 1:
        return ()
    costs = []
    for one in np.unique(stack).tolist():
        chosen = stack == one
        meant, said = exact[chosen], found[chosen]
        change = None
        if result is not None and (known := ~np.isnan(result[chosen])).any():
            outcomes = result[chosen][known]
            change = float(log_losses(said[known], outcomes).mean() - log_losses(meant[known], outcomes).mean())
        costs.append(
            StackCost(
                one,
                stack_name(stacks, one),
                int(chosen.sum()),
                float(((said >= 0) != (meant >= 0)).mean()),
                float(np.abs(said - meant).max()),
                float(np.sqrt(((said - meant) ** 2).mean())),
                change,
            )
        )
    return tuple(costs)


def rare_stacks(stacks: Stacks, stack: np.ndarray) -> tuple[str, ...]:
    """Return the names of the stacks that fewer than FEW_POSITIONS positions choose, also those that none does."""
    if stacks.count == 1:
        return ()
    counts = np.bincount(stack, minlength=stacks.count)
    return tuple(stack_name(stacks, one) for one in np.flatnonzero(counts < FEW_POSITIONS).tolist())
