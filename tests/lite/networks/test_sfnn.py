"""Training of SFNN: rows of every feature set, factors merged into rows, weights within int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lite.networks.feature_rows import list_feature_rows
from lite.networks.nnue import HIDDEN_LIMIT, OUTPUT_LIMIT
from lite.networks.sfnn import FEATURE_SETS, SfnnConfig, SfnnNetwork
from lite.records.batch import Batch
from lite.training.checkpoint import load_model, save_model
from lite.training.training_speed import synthetic_batch
from search.evaluation.feature_sets import YANEURAOU_NAMES, feature_set
from search.rules.shogi import EMPTY, KINDS, KING


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Random boards; some lack pieces, as in handicap games."""
    found = synthetic_batch(60, seed=3)
    for pieces, hands in zip(found.pieces[:20], found.hands[:20], strict=True):
        pieces[np.flatnonzero((pieces != EMPTY) & (pieces % KINDS != KING))[::7]] = EMPTY
        hands[3] = 0
    return found


def made(features: str = "halfkahm2", stacks: tuple[str, ...] = ("k3k3",), hidden: tuple[int, int] = (7, 16)):
    """Return a network without zero parts."""
    torch.manual_seed(2)
    net = SfnnNetwork(features, 64, hidden, stacks)  # type: ignore[arg-type]
    with torch.no_grad():
        for part in net.parameters():
            part.add_(torch.randn_like(part) * 0.1)
    return net


@pytest.mark.parametrize("name", YANEURAOU_NAMES)
def test_rows_equal_those_of_the_search(name: str, batch: Batch) -> None:
    chosen = feature_set(name)
    rows, start = list_feature_rows(chosen, batch.pieces, batch.hands)
    for view in range(2):
        for position, listed in enumerate(chosen.active_rows(batch.pieces, batch.hands, view)):
            sample = 2 * position + view
            assert sorted(rows[start[sample] : start[sample + 1]]) == sorted(listed[listed < chosen.rows])


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_factors_are_merged_into_the_rows(features: str, batch: Batch) -> None:
    """The rows with added factors have the sums that training computes."""
    net = made(features, stacks=()).double().eval()
    rows, bias = net.first_layer()
    table = np.concatenate((rows, np.zeros((1, rows.shape[1]))))
    views = [table[net.feature_set.active_rows(batch.pieces, batch.hands, view)].sum(1) + bias for view in range(2)]
    first, second = np.split(np.clip(np.stack(views), 0, 1), 2, 2)
    assert net.layer_stacks is not None
    x = torch.from_numpy(np.concatenate(first * second, 1))
    expected = net.layer_stacks(x)
    found = net.outputs(batch.pieces, batch.hands, batch.in_check)
    assert float(expected.detach().std()) > 0.01
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def test_weights_stay_within_int8(batch: Batch) -> None:
    net = made()
    assert net.layer_stacks is not None
    with torch.no_grad():
        for part in (*net.layer_stacks.shared.parameters(), *net.layer_stacks.own_weight):
            part.mul_(100)
    net.train().outputs(batch.pieces, batch.hands, batch.in_check)
    first, second, last = (weight for weight, _ in net.layers())
    assert abs(first[:, :7]).max() == pytest.approx(HIDDEN_LIMIT * 127 / 128)
    assert abs(first[:, 7]).max() == pytest.approx(OUTPUT_LIMIT * 127 / 128)
    assert abs(second).max() == pytest.approx(HIDDEN_LIMIT)
    assert abs(last).max() == pytest.approx(OUTPUT_LIMIT)


def test_gradients_pass_in_an_untrained_network(batch: Batch) -> None:
    torch.manual_seed(0)
    net = SfnnNetwork("halfka2", 256, (7, 64))
    net.outputs(batch.pieces, batch.hands, batch.in_check).square().sum().backward()
    for name, part in net.named_parameters():
        assert part.grad is not None
        assert float((part.grad != 0).float().mean()) > (0.0001 if name == "table" else 0.03), name


def test_a_file_holds_the_progress_table(batch: Batch, tmp_path: Path) -> None:
    net = made("kp", ("progress8", "hand4"), (8, 16)).eval()
    table = np.random.default_rng(1).integers(-50_000, 50_000, (81, 1548)).astype(np.int32)
    assert net.layer_stacks is not None
    net.layer_stacks.set_progress(table, -3)
    save_model(tmp_path / "network.safetensors", net, {})
    again, _ = load_model(tmp_path)
    assert again.config == {
        "network": "sfnn", "features": "kp", "width": 64, "hidden": (8, 16), "stacks": ("progress8", "hand4")
    }  # fmt: skip
    assert again.stacks.tokens == ("hand4", "progress8")
    assert again.stacks.progress_weight is not None
    assert (again.stacks.progress_weight == table).all()
    assert again.stacks.progress_bias == -3
    arrays = (batch.pieces, batch.hands, batch.in_check)
    assert torch.equal(again.outputs(*arrays), net.outputs(*arrays))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "half_kp"}, "choose one of halfkp, kp"),
        ({"width": 96}, "a multiple of 64"),
        ({"hidden": (7,)}, "two sizes"),
        ({"hidden": (9, 32)}, "8n - 1"),
        ({"stacks": ("k3k3", "k9k9")}, "two king axes"),
    ],
)
def test_invalid_dimensions_are_refused(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SfnnConfig(**options).build()
