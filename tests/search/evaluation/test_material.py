"""The network of an engine without a file counts only material."""

from __future__ import annotations

import numpy as np

from lite.training.metrics import material
from lite.training.training_speed import synthetic_batch
from search.evaluation.material import material_network
from search.evaluation.network import centipawns_reference, evaluate_reference
from search.evaluation.static_evaluation import evaluate_sfens


def test_pieces_in_hand_count_a_tenth_more_than_on_the_board() -> None:
    batch, net = synthetic_batch(500), material_network()
    outputs = evaluate_reference(net, batch.pieces, batch.hands, batch.in_check)[:, 0]
    found = np.array(centipawns_reference(net, outputs.tolist()))
    expected = material(batch.pieces, batch.hands)
    assert (np.abs(expected) > 1500).sum() > 50
    assert (np.abs(found - expected) < 400 + np.abs(expected) / 8).all()
    for sfen, score in (
        ("startpos", 0),
        ("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 990),
        ("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/7R1/LNSGKGSNL b B 1", 990 + 85),
        # A lane is limited to 1,270 centipawns, but sums of lanes are not.
        ("4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 6130),
        ("4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", -6130),
        ("4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b RB2G2S2N2L8P 1", 6130 + 6560),
    ):
        assert abs(evaluate_sfens(net, [sfen])[0].score_cp - score) <= 10, sfen
