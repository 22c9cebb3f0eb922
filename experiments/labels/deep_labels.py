"""Labels by the win rate of a policy-value network, averaged over a position and its mirror image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.jobs.protocol import Stopped
from experiments.labels.labels import scores_of_rates
from experiments.labels.study import UNLABELLED, place_code, study_dtype
from search.compiling.jit import jit
from search.puct.onnx_file import Device
from search.puct.onnx_network import open_network
from search.puct.planes import make_planes
from search.rules.position import new_position
from search.rules.shogi import HAND_KINDS, MIRRORED_SQUARE, SQUARES
from search.rules.view import view_position
from search.score import CP_PER_LOGIT


@dataclass(frozen=True)
class DeepLabels:
    """Labels by a policy-value network of dlshogi's input form."""

    content: bytes
    """ONNX file of the network."""
    cp_per_logit: float = CP_PER_LOGIT
    """Centipawns of a label per logit of the win rate."""
    batch_size: int = 128
    """Boards evaluated at a time; each position is two, itself and its mirror image."""
    device: Device = "auto"
    """Where the network is computed."""

    def open(self) -> DeepLabeller:
        """Load the network. Raises OSError or ValueError."""
        return DeepLabeller(self)


class DeepLabeller:
    """A loaded network that labels positions in batches, positions in check included."""

    def __init__(self, labels: DeepLabels) -> None:
        self._labels = labels
        self._network = open_network(labels.content, labels.device)
        self._position, self._study = new_position(), np.zeros(1, study_dtype)[0]
        self._stopped = False

    def forget(self) -> None:
        """Do nothing: no label depends on earlier ones."""

    def stop(self) -> None:
        """Stop after the batch under way; `label` raises Stopped."""
        self._stopped = True

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores int16, moves uint16, all 0) of hcp codes uint8 (n, 32), see `Labeller`."""
        pieces = np.zeros((len(codes), SQUARES), np.uint8)
        hands = np.zeros((len(codes), 2 * HAND_KINDS), np.uint8)
        in_check, is_valid = np.zeros(len(codes), np.bool_), np.zeros(len(codes), np.bool_)
        codes = np.require(codes, requirements=["C", "W"])
        _view_codes(codes, self._position, self._study, pieces, hands, in_check, is_valid)
        scores, valid = np.full(len(codes), UNLABELLED, np.int16), np.flatnonzero(is_valid)
        step = max(1, self._labels.batch_size // 2)
        for start in range(0, len(valid), step):
            if self._stopped:
                raise Stopped
            part = valid[start : start + step]
            rates = self._win_rates(pieces[part], hands[part], in_check[part])
            scores[part] = scores_of_rates(rates, self._labels.cp_per_logit)
        return scores, np.zeros(len(codes), np.uint16)

    def _win_rates(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> np.ndarray:
        """Return win rates float64 (n,), each the mean of a position's and its mirror image's."""
        boards = np.concatenate((pieces, pieces[:, MIRRORED_SQUARE]))
        planes = make_planes(boards, np.concatenate((hands, hands)), np.concatenate((in_check, in_check)))
        return self._network.win_rates(*planes).reshape(2, -1).astype(np.float64).mean(0)


@jit
def _view_codes(codes, pos, study, pieces, hands, in_check, is_valid):
    """Write the mover's view of hcp codes u1 (n, 32) to pieces u1 (n, 81), hands u1 (n, 14), in_check bool (n,).

    is_valid bool (n,) says which codes are positions.
    """
    for index in range(codes.shape[0]):
        if place_code(codes[index], pos, study):
            view_position(pos, pieces, hands, in_check, np.int64(index))
            is_valid[index] = True
