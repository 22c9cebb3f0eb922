"""Corrections: networks that learn what labels know beyond the evaluation of another network, which stays as it is.

A network that learns the scores of searches directly plays worse than one that learns static values: they are harder
to predict, and what it cannot predict disturbs the rest. A correction leaves the rest alone. Its own output is added to
the evaluation of the network that it corrects, so that a few lanes are enough for what is left to learn. Afterwards
`export.fold` makes one network of both (`lite.networks.joined`).
"""

from __future__ import annotations

import numpy as np

from lite.networks.from_folded import dense_config
from lite.networks.joined import joined_config
from lite.training.folder import network_file
from lite.training.options import ValueTraining
from lite.training.targets import sigmoid
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.system.options import OptionError

DECIDED = 2.5
"""Largest logit of the corrected network in a position that is learnt; beyond it, 1,500 cp, nothing matters."""
CERTAIN = 5.0
"""Largest logit of a target that is learnt: mates are for the search to find."""


def corrected_network(options: ValueTraining) -> EvalNetwork | None:
    """Return the network that a training corrects; None if the trained network stands alone.

    Raises OSError, or OptionError if no correction of these options can be added to the network.
    """
    if options.correct is None:
        return None
    try:
        network = load_network(network_file(options.correct))
        joined_config(dense_config(network), options.network)
    except OptionError:
        raise
    except ValueError as error:
        raise OptionError(f"`correct` {options.correct}: {error}", "correct") from None
    return network


def is_learnt(logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return whether a correction learns from positions with these logits f8 (B,) and targets (B,); bool (B,)."""
    return (np.abs(logits) < DECIDED) & (np.abs(target - 0.5) < sigmoid(np.array(CERTAIN)) - 0.5)


def targets_beyond_scale(logits: np.ndarray, target: np.ndarray, learnt: np.ndarray) -> np.ndarray:
    """Return targets f4 (B,) whose difference from the win rates of the logits does not depend on the logit alone.

    The search's margins suit the scale of the network's scores, and its sides' balance. So a constant, a linear and a
    cubic term in the logit are fitted to the differences of the `learnt` positions (bool (B,)), and taken away.
    """
    rate = sigmoid(logits)
    terms = np.stack((np.ones_like(logits), logits, logits**3), 1) * (rate * (1 - rate))[:, None]
    share, *_ = np.linalg.lstsq(terms[learnt], (target - rate)[learnt], rcond=None)
    return np.clip(target - terms @ share, 0, 1).astype(np.float32)
