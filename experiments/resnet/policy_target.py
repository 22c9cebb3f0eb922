"""Training target of the policy: shares of a search's visits if a record has them, else the move played."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lite.records.batch import Batch
from search.puct.planes import NO_LABEL, mirrored_labels, move_labels

MIRRORED_LABEL = mirrored_labels()


@dataclass(frozen=True)
class PolicyTarget:
    """Distributions over move labels, one row per label with a share."""

    position: np.ndarray
    """Index of the position in the batch, int64 (rows,)."""
    label: np.ndarray
    """Move label, 0 to 2186, int64 (rows,)."""
    share: np.ndarray
    """Share of the label, float32 (rows,); the shares of a position sum to 1."""
    known: int
    """Number of positions that have a distribution."""

    def mirrored(self, reverse: np.ndarray) -> PolicyTarget:
        """Return the target with the board mirrored left to right for the positions in `reverse`, bool (B,)."""
        return replace(self, label=np.where(reverse[self.position], MIRRORED_LABEL[self.label], self.label))


def policy_target(batch: Batch) -> PolicyTarget:
    """Return the target of a batch; positions without visits and without a known move have none."""
    position, move, visits = np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.float64)
    if batch.visits is not None:
        tried = batch.visits.visits > 0
        position, move, visits = (
            batch.visits.position[tried],
            batch.visits.move[tried],
            batch.visits.visits[tried].astype(np.float64),
        )
    sums = np.bincount(position, visits, len(batch))
    played = np.flatnonzero((sums == 0) & (move_labels(batch.move, batch.turn) != NO_LABEL))
    position = np.concatenate((position, played))
    share = np.concatenate((visits / sums[position[: len(visits)]], np.ones(len(played)))).astype(np.float32)
    label = move_labels(np.concatenate((move, batch.move[played])), batch.turn[position])
    return PolicyTarget(position, label, share, int((sums > 0).sum()) + len(played))
