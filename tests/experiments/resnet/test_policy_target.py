"""The target of the policy: the distribution of visits, the move played, or none; also for mirrored boards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from experiments.resnet.network import ResnetConfig
from experiments.resnet.policy_target import PolicyTarget, policy_target
from experiments.resnet.testing import plane_tensors
from experiments.resnet.train import ResnetTask, ResnetTraining
from lite.records.batch import BATCH_FIELDS, Batch, Visits
from lite.records.encode import encode_game
from lite.records.reader import read_all
from lite.training.run import Run
from search.puct.planes import mirrored_labels, move_labels
from search.rules.huffman import HCP, encode
from search.rules.position import do_move, new_position
from search.rules.sfen import move_from_usi, set_sfen
from search.rules.shogi import START_SFEN

PLAYED = ("7g7f", "3c3d", "2g2f", "4c4d")
CANDIDATES: tuple[dict[str, int], ...] = (
    {"7g7f": 30, "2g2f": 10},
    {"3c3d": 65535, "8c8d": 65535},
    {"2g2f": 0},
    {"4c4d": 1},
)


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """Return a game whose visits are 3 to 1, equal (and maximal), zero, and for the move played only."""
    pos = new_position()
    set_sfen(pos, START_SFEN)
    code = encode(pos["board"], pos["hands"], 0, HCP)
    visits = []
    for usi, counts in zip(PLAYED, CANDIDATES, strict=True):
        moves = np.array([move_from_usi(move) for move in counts], np.uint16)
        visits.append((moves, np.array(list(counts.values()), np.uint16)))
        do_move(pos, np.int64(move_from_usi(usi)))
    moves = np.array([move_from_usi(usi) for usi in PLAYED], np.uint16)
    path = tmp_path / "game.hcpe3"
    path.write_bytes(encode_game(code, 1, moves, np.array([10, 20, 30, 40], np.int16), visits) * 8)
    return path


def dense(target: PolicyTarget, positions: int) -> np.ndarray:
    table = np.zeros((positions, 2187), np.float32)
    np.add.at(table, (target.position, target.label), target.share)
    return table


def test_shares_of_visits_by_hand(game: Path) -> None:
    batch = read_all([game], read_visits=True)
    target = policy_target(batch)
    assert target.known == len(batch) == 32
    table = dense(target, 32)
    for position, expected in enumerate(
        ({"7g7f": 0.75, "2g2f": 0.25}, {"3c3d": 0.5, "8c8d": 0.5}, {"2g2f": 1}, {"4c4d": 1})
    ):
        moves = np.array([move_from_usi(usi) for usi in expected], np.uint16)
        labels = move_labels(moves, np.full(len(moves), position % 2, np.uint8))
        assert table[position, labels].tolist() == list(expected.values())
        assert table[position].sum() == 1
    nothing = Batch(*(getattr(batch, name) for name in BATCH_FIELDS))
    nothing.move = np.array([0, *batch.move[1:]], np.uint16)
    without = policy_target(nothing)
    assert without.known == 31
    assert 0 not in without.position
    assert np.array_equal(dense(without, 32).argmax(1)[1:], move_labels(batch.move, batch.turn)[1:])


def test_reversed_labels_keep_their_shares(game: Path) -> None:
    batch = read_all([game], read_visits=True)
    target = policy_target(batch)
    reverse = np.arange(len(batch)) % 3 == 0
    table, mirrored = dense(target, len(batch)), dense(target.mirrored(reverse), len(batch))
    assert np.array_equal(mirrored[~reverse], table[~reverse])
    assert np.array_equal(mirrored[reverse][:, mirrored_labels()], table[reverse])


def test_training_minimises_the_cross_entropy_with_the_visits(game: Path, tmp_path: Path) -> None:
    options = ResnetTraining(
        data=(game,),
        output=tmp_path / "run",
        network=ResnetConfig(blocks=1, channels=8, value_hidden=8),
        batch_size=32,
        device="cpu",
        precision="float32",
    )
    run = Run(options, ResnetTask)
    batch, model = next(iter(run.data.reader)), run.learner.model
    table = torch.from_numpy(dense(policy_target(batch), len(batch)))
    with torch.no_grad():
        found = float(run.task.losses(model, batch, run.learner.targets.at(batch, 0), 0)["policy_loss"])
        logits = model.heads(*plane_tensors(batch.pieces, batch.hands, batch.in_check, False)).policy
    assert found == pytest.approx(float(functional.cross_entropy(logits, table)), abs=1e-5)


def test_held_out_games_are_measured_by_the_visits(game: Path, tmp_path: Path) -> None:
    (tmp_path / "valid.hcpe3").write_bytes(game.read_bytes())
    network = ResnetConfig(blocks=1, channels=8, value_hidden=8)
    run = Run(
        ResnetTraining(
            (game,), tmp_path / "run", (tmp_path / "valid.hcpe3",), network=network, device="cpu", precision="float32"
        ),
        ResnetTask,
    )
    batch = read_all([game], read_visits=True)
    model, targets, last = run.learner.average.model, run.learner.targets, run.steps - 1
    found = run.held_out.test(model, targets, 1, 0)
    with torch.no_grad():
        losses = run.task.losses(model.eval(), batch, targets.at(batch, last), last)
    assert found.loss == pytest.approx(float(losses["loss"]), abs=1e-5)
    assert found.report.log_loss is not None
    assert abs(found.loss - found.parts["policy_loss"] - found.report.log_loss) > 1e-4


def test_without_visits_the_target_is_the_move_played(game: Path) -> None:
    batch = read_all([game])
    assert batch.visits is None
    target = policy_target(batch)
    assert target.label.tolist() == move_labels(batch.move, batch.turn).tolist()
    batch.visits = Visits(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint16))
    assert policy_target(batch).label.tolist() == target.label.tolist()
