"""Test vectors: a network's evaluation of a few positions step by step, for evaluators in other programs.

docs/how/network_reader.md describes the file. Those of the shipped networks are in search/networks/.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from search.evaluation.network import EvalNetwork
from search.evaluation.static_evaluation import evaluate_batch, evaluate_sfens, set_game_with_kings
from search.rules.position import new_position
from search.rules.shogi import HAND_KINDS, SQUARES, START_SFEN
from search.rules.view import view_position
from search.system.files import write_atomically

FORMAT = "liteshogi test vectors"
VERSION = 1
LANES = 8
"""Number of sums in a vector per perspective, from the first."""
POSITIONS = (
    START_SFEN,
    "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2",
    # The mover in check: black, then white.
    "lnsgkgsnl/1r7/pppppp1pp/6p2/9/2P4P1/PP+bPPPP1P/1B5R1/LNSGKGSNL b - 5",
    "lnsgkgsnl/1r5b1/pppppp+Bpp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w - 4",
    "lnsgkg1nl/1r5s1/ppppppBpp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 6",
    # Middle games with pieces in both hands, by each mover.
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL b RGgsn5p 1",
    # Entered kings and every promoted piece; more than eight pawns in a hand; bare kings.
    "1+P1K5/+P2G+P+S3/1+R+P1+L1+N2/9/9/9/3+l2+n1+p/1g1+s+p2k1/2+p1+r4 b BGS2N2L5Pbgs3p 200",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "4k4/9/9/9/9/9/9/9/4K4 b R2BG4S2N4L9Pr3g2n9p 1",
    # Handicaps: missing pieces.
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
)


@dataclass(frozen=True)
class Vector:
    """The evaluation of a position, step by step."""

    sfen: str
    in_check: bool
    """Whether the mover is in check."""
    rows: tuple[tuple[int, ...], ...]
    """Active rows of each perspective."""
    sums: tuple[tuple[int, ...], ...]
    """First LANES sums of each perspective."""
    outputs: tuple[int, ...]
    """Integers of the output layer."""
    score_cp: int
    """Centipawns for the mover."""


def make_vectors(net: EvalNetwork) -> list[Vector]:
    """Return for each position the active rows and first sums of each perspective, the outputs and the centipawns."""
    pieces, hands = np.zeros((1, SQUARES), np.uint8), np.zeros((1, 2 * HAND_KINDS), np.uint8)
    in_check, pos, features = np.zeros(1, np.bool_), new_position(), net.feature_set
    found = []
    for said in evaluate_sfens(net, POSITIONS):
        set_game_with_kings(pos, said.sfen)
        view_position(pos, pieces, hands, in_check, np.int64(0))
        rows, sums = [], []
        for view in range(net.perspectives):
            active = features.active_rows(pieces, hands, view)[0]
            listed = sorted(active[active != features.rows].tolist())
            if view == 0 and in_check[0] and features.check_row is not None:
                listed.append(features.check_row)
            rows.append(tuple(listed))
            sums.append(tuple((net.bias + net.rows[listed].sum(0, dtype=np.int16))[:LANES].tolist()))
        outputs = evaluate_batch(net, pieces, hands, in_check)[0].tolist()
        found.append(Vector(said.sfen, bool(in_check[0]), tuple(rows), tuple(sums), tuple(outputs), said.score_cp))
    return found


def write_vectors(net: EvalNetwork, network: str, path: Path) -> int:
    """Write the vectors of a network as JSON, one position per line, and return their number; `network` is its name."""
    vectors = make_vectors(net)
    head = {"format": FORMAT, "version": VERSION, "network": network, "feature_set": net.feature_set.name}
    lines = ",\n".join(json.dumps(asdict(vector)) for vector in vectors)
    write_atomically(path, f'{json.dumps(head)[:-1]}, "positions": [\n{lines}\n]}}\n'.encode())
    return len(vectors)
