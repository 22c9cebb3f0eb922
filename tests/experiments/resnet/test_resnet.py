"""The policy-value network: dlshogi's shapes, its training, and figures of rare outcomes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.resnet.heads import measure_rare
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig, load_resnet, multiply_adds, save_resnet
from experiments.resnet.testing import PolicyMetrics, Predictions, measure_resnet, plane_tensors
from experiments.resnet.train import ResnetTask, ResnetTraining, count_positives, positive_weights, train_resnet
from lite.records.batch import BATCH_FIELDS, Batch
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, NO_RESULT, hcpe_dtype
from lite.records.reader import Reader, read_all
from lite.training.checkpoint import STATE, load_model, load_state, read_tensors, write_tensors
from lite.training.log import Steps, lines_of, read_log
from lite.training.run import Run
from liteshogi.commands.test import Command as JudgeNet
from liteshogi.commands.train.outcome import outcome_json
from search.puct.planes import make_planes, mirrored_labels, move_labels
from search.rules.sfen import move_from_usi
from search.rules.shogi import MIRRORED_SQUARE
from search.system.options import OptionError

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
ALL_TARGETS = ("sennichite", "declaration", "move_limit", "entered")


@pytest.fixture(scope="module")
def some_games(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Twenty games to train on and ten to test on; the first of each file is changed to a sennichite."""
    raw, cuts, at = bytearray(SAMPLE.read_bytes()), [0], 0
    while at < len(raw):
        at += 36 + 6 * int.from_bytes(raw[at + 32 : at + 34], "little")
        cuts.append(at)
    raw[cuts[0] + 34] = raw[cuts[20] + 34] = 4
    folder = tmp_path_factory.mktemp("games")
    (folder / "train.hcpe3").write_bytes(raw[: cuts[20]])
    (folder / "valid.hcpe3").write_bytes(raw[cuts[20] : cuts[30]])
    return folder / "train.hcpe3", folder / "valid.hcpe3"


@pytest.fixture(scope="module")
def batch() -> Batch:
    return next(iter(Reader([SAMPLE], 40, seed=5)))


def options(some_games: tuple[Path, Path], output: Path, **changes: object) -> ResnetTraining:
    network = ResnetConfig(blocks=1, channels=8, squeeze=2, value_hidden=16, draw=True, auxiliary=ALL_TARGETS)
    chosen = {"network": network, "epochs": 1, "batch_size": 128, "device": "cpu"} | changes
    return ResnetTraining(data=(some_games[0],), valid=(some_games[1],), output=output, **chosen)  # type: ignore[arg-type]


def test_names_and_shapes_of_weights_are_those_of_dlshogi() -> None:
    """Weights are exchangeable. The names are from `policy_value_network_resnet.py` with 2 blocks of 16 channels."""
    found = {name: tuple(value.shape) for name, value in PolicyValueNetwork(ResnetConfig(2, 16)).state_dict().items()}
    norms = {"norm1": 16, "value_norm1": 27} | {f"blocks.{block}.bn{n}": 16 for block in (0, 1) for n in (1, 2)}
    expected: dict[str, tuple[int, ...]] = {
        "l1_1_1.weight": (16, 62, 3, 3),
        "l1_1_2.weight": (16, 62, 1, 1),
        "l1_2.weight": (16, 57, 1, 1),
        "policy.weight": (27, 16, 1, 1),
        "policy_bias.bias": (2187,),
        "value_conv1.weight": (27, 16, 1, 1),
        "value_fc1.weight": (256, 2187),
        "value_fc1.bias": (256,),
        "value_fc2.weight": (1, 256),
        "value_fc2.bias": (1,),
    }
    for block in (0, 1):
        expected |= {f"blocks.{block}.conv{n}.weight": (16, 16, 3, 3) for n in (1, 2)}
    for name, size in norms.items():
        expected |= {f"{name}.{part}": (size,) for part in ("weight", "bias", "running_mean", "running_var")}
        expected[f"{name}.num_batches_tracked"] = ()
    assert found == expected


def test_multiply_adds_are_those_of_an_evaluation(batch: Batch) -> None:
    """A squeeze reads one number per channel, not one per square."""
    network = PolicyValueNetwork(ResnetConfig(1, 16, squeeze=8, squeeze_bias=True, draw=True)).eval()
    made: list[int] = []
    for part in network.modules():
        if isinstance(part, torch.nn.Conv2d | torch.nn.Linear):
            part.register_forward_hook(lambda part, _, found: made.append(part.weight[0].numel() * found[0].numel()))
    network.heads(*map(torch.from_numpy, make_planes(batch.pieces[:1], batch.hands[:1], batch.in_check[:1])))
    assert multiply_adds(network) == sum(made)


def test_squeeze_scales_channels_by_their_means() -> None:
    torch.manual_seed(1)
    block = PolicyValueNetwork(ResnetConfig(1, 16, squeeze=8)).blocks[0].eval()
    x = torch.randn(3, 16, 9, 9)
    with torch.no_grad():
        inner = block.bn2(block.conv2(torch.relu(block.bn1(block.conv1(x)))))
        hidden = torch.relu(inner.mean((2, 3)) @ block.se.fc1.weight[:, :, 0, 0].T)
        scale = torch.sigmoid(hidden @ block.se.fc2.weight[:, :, 0, 0].T)
        expected = torch.relu(inner * scale[:, :, None, None] + x)
        torch.testing.assert_close(block(x), expected)
    assert block.se.fc1.weight.shape == (2, 16, 1, 1)
    assert block.se.fc1.bias is None
    assert PolicyValueNetwork(ResnetConfig(1, 16, squeeze=8, squeeze_bias=True)).blocks[0].se.fc2.bias is not None
    assert isinstance(PolicyValueNetwork(ResnetConfig(1, 16, "swish")).act, torch.nn.SiLU)


def test_constant_planes_may_have_one_square(batch: Batch) -> None:
    torch.manual_seed(1)
    net = PolicyValueNetwork(ResnetConfig(1, 8, draw=True, auxiliary=("sennichite",))).eval()
    x1, x2 = make_planes(batch.pieces, batch.hands, batch.in_check)
    short1, short2 = plane_tensors(batch.pieces, batch.hands, batch.in_check, bfloat16=False)
    assert short2.shape == (40, 57, 1, 1)
    half1, half2 = plane_tensors(batch.pieces, batch.hands, batch.in_check, bfloat16=True)
    assert half1.dtype == half2.dtype == torch.bfloat16
    assert torch.equal(half1.float(), torch.from_numpy(x1))
    with torch.no_grad():
        whole = net.heads(torch.from_numpy(x1), torch.from_numpy(x2))
        for long, short in zip(whole, net.heads(short1, short2), strict=True):
            torch.testing.assert_close(long, short, rtol=1e-4, atol=1e-5)
        policy, value = net(short1, short2)
    assert (policy.shape, value.shape) == ((40, 2187), (40, 1))


def test_an_interrupted_and_resumed_run_ends_with_the_same_bits(some_games: tuple[Path, Path], tmp_path: Path) -> None:
    whole = options(some_games, tmp_path / "whole", mirror=True)
    train_resnet(whole)
    cut = dataclasses.replace(whole, output=tmp_path / "cut", max_steps=5)
    train_resnet(cut)
    train_resnet(dataclasses.replace(cut, max_steps=None, resume=True))
    one, two = (load_resnet(tmp_path / name)[0].state_dict() for name in ("whole", "cut"))
    assert len(one) > 30
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_positions_without_a_game_do_not_train_the_endings(some_games: tuple[Path, Path], tmp_path: Path) -> None:
    file = RecordFile(some_games[0])
    records = position_records(file.read_block(file.blocks[0], Refusals()), HCPE, 0).view(hcpe_dtype).ravel()
    records.tofile(tmp_path / "whole.hcpe")
    records["padding"][::2], records["result"][::2] = NO_RESULT, 0
    records.tofile(tmp_path / "half.hcpe")
    records[1::2].tofile(tmp_path / "played.hcpe")
    counts = [count_positives((tmp_path / f"{name}.hcpe",), ("sennichite",)) for name in ("half", "played")]
    assert counts[0] == counts[1]
    made = ResnetConfig(1, 8, value_hidden=8, draw=True, auxiliary=("sennichite",))
    torch.manual_seed(1)
    save_resnet(tmp_path / "network.safetensors", PolicyValueNetwork(made).eval(), {})
    net = str(tmp_path / "network.safetensors")
    half, played = (measure_resnet(net, (tmp_path / f"{name}.hcpe",)) for name in ("half", "played"))
    for name in ("sennichite", "draw"):
        one, other = (getattr(tested.heads, name) for tested in (half, played))
        assert one.positions == other.positions == len(records[1::2])
        assert one.brier == pytest.approx(other.brier)
    task = ResnetTask(options((tmp_path / "half.hcpe", tmp_path / "half.hcpe"), tmp_path / "run", network=made))
    batch = next(iter(Reader((tmp_path / "half.hcpe",), len(records), shuffle=False)))
    assert task._of_games(batch).sum() == len(records[1::2])


@pytest.mark.parametrize("moves", [True, False])
def test_held_out_positions_without_a_game_give_only_the_loss(
    some_games: tuple[Path, Path], tmp_path: Path, moves: bool
) -> None:
    file = RecordFile(some_games[1])
    records = position_records(file.read_block(file.blocks[0], Refusals()), HCPE, 0).view(hcpe_dtype).ravel()
    records["padding"], records["result"] = NO_RESULT, 0
    if not moves:
        records["move"] = 0
    records.tofile(tmp_path / "made.hcpe")
    tested = train_resnet(options((some_games[0], tmp_path / "made.hcpe"), tmp_path / "run", epochs=1)).tested
    assert tested is not None
    assert tested.loss > (tested.parts["policy_loss"] or 0.0)
    assert tested.report.accuracy is tested.report.log_loss is None
    assert (tested.parts["policy_loss"] is None) != moves
    with pytest.raises(ValueError, match=r"made\.hcpe: no position comes from a game"):
        measure_resnet(str(tmp_path / "run"), (tmp_path / "made.hcpe",))


def test_training_learns_logs_and_omits_outcomes_that_do_not_occur(
    some_games: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = options(some_games, tmp_path / "run", epochs=6, precision="float32")
    printed = json.loads(outcome_json(train_resnet(run)))
    said = capsys.readouterr()
    _, positives = count_positives((some_games[0],), ALL_TARGETS)
    missing = {name for name, count in positives.items() if not count}
    assert missing
    assert len(missing) < 4
    for name in ALL_TARGETS:
        assert (f"no positions with {name} in the data" in said.err) == (name in missing)
    lines = lines_of(Steps, read_log(tmp_path / "run"))
    for name in ("policy_loss", "value_loss", "draw_loss", "auxiliary_loss"):
        assert name in lines[0].parts
    assert lines[-1].parts["policy_loss"] < lines[0].parts["policy_loss"]
    assert lines[0].loss == pytest.approx(
        sum(lines[0].parts[f"{name}_loss"] for name in ("policy", "value", "draw"))
        + 0.1 * lines[0].parts["auxiliary_loss"]
    )
    model, training = load_resnet(tmp_path / "run")
    assert set(model.network_config.auxiliary) == set(ALL_TARGETS) - missing
    assert training.provenance["valid"]["policy_accuracy"] == printed["policy_accuracy"]
    JudgeNet(net=str(tmp_path / "run"), data=(some_games[1],), json=True).run()
    judged = json.loads(capsys.readouterr().out)
    assert judged["policy_accuracy"] == pytest.approx(printed["policy_accuracy"], abs=0.003)
    assert judged["accuracy"] == pytest.approx(printed["accuracy"], abs=0.003)
    assert judged["draw"]["brier"] == pytest.approx(printed["draw"]["brier"], abs=1e-4)
    with pytest.raises(ValueError, match="this is a liteshogi policy-value network, not a liteshogi network"):
        load_model(tmp_path / "run")


def test_the_held_out_loss_is_the_trained_loss_without_auxiliary_targets(
    some_games: tuple[Path, Path], tmp_path: Path
) -> None:
    """The weight of scores is that of the end of the run."""
    run = Run(options(some_games, tmp_path / "run", precision="float32", lambda_=0.0, lambda_end=1.0), ResnetTask)
    (batch,) = Reader([some_games[1]], 4096, shuffle=False, mark_entered=True, read_visits=True)
    model, targets, last = run.learner.average.model, run.learner.targets, run.steps - 1
    found = run.held_out.test(model, targets, 1, 0)
    with torch.no_grad():
        given = run.task.losses(model.eval(), batch, targets.at(batch, last), last)
        losses = {name: float(loss) for name, loss in given.items()}
    assert found.loss == pytest.approx(losses["loss"] - 0.1 * losses["auxiliary_loss"], abs=1e-4)
    assert losses["draw_loss"] > 0.01
    assert abs(losses["value_loss"] - found.report.log_loss) > 1e-3


def test_a_best_epoch_by_an_older_loss_is_replaced(
    some_games: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its loss is small because it excluded the draw head; without held-out games it remains the best."""
    run = options(some_games, tmp_path / "run", epochs=3, max_steps=1)
    steps = train_resnet(dataclasses.replace(run, max_steps=None, epochs=1)).steps
    state, described = read_tensors(run.output / "state.safetensors", STATE)
    older = described["best"] | {"loss": 0.1, "loss_version": 1}
    write_tensors(run.output / "state.safetensors", STATE, state, described | {"best": older})
    train_resnet(dataclasses.replace(run, valid=(), resume=True))
    assert load_state(run.output / "state.safetensors")[1]["best"] == older
    capsys.readouterr()
    train_resnet(dataclasses.replace(run, resume=True, max_steps=steps - 1))
    assert "best.safetensors: the best by a loss that this program computes differently" in capsys.readouterr().err
    best = load_state(run.output / "state.safetensors")[1]["best"]
    assert (best["epoch"], best["loss_version"]) == (2, 2)
    assert load_resnet(run.output / "best.safetensors")[1].provenance["step"] == 2 * steps


def test_weights_of_positive_labels_by_hand() -> None:
    counts = {"sennichite": 50, "declaration": 0, "move_limit": 1}
    assert positive_weights(1000, counts, 100) == {"sennichite": 20, "move_limit": 100}


def test_labels_of_mirrored_moves(batch: Batch) -> None:
    mirror = mirrored_labels()
    assert sorted(mirror) == list(range(2187))
    assert (mirror[mirror] == np.arange(2187)).all()
    pairs = {"7g7f": "3g3f", "8i7g": "2i3g", "8h2b+": "2h8b+", "P*1e": "P*9e", "4i3h": "6i7h"}
    for move, other in pairs.items():
        (one, two) = move_labels(
            np.array([move_from_usi(move), move_from_usi(other)], np.uint16), np.zeros(2, np.uint8)
        )
        assert mirror[one] == two
    x1, _ = make_planes(batch.pieces, batch.hands, batch.in_check)
    x2, _ = make_planes(batch.pieces[:, MIRRORED_SQUARE], batch.hands, batch.in_check)
    assert (x2 == x1[:, :, ::-1]).all()


def test_figures_of_rare_outcomes_by_hand() -> None:
    logits = np.array([2.0, 1.0, -1.0, -2.0, -3.0])
    found = measure_rare(logits, np.array([True, False, True, False, False]))
    assert (found.positives, found.base_rate, found.base_accuracy) == (2, 0.4, 0.6)
    assert found.accuracy == 0.6
    assert found.precision == found.recall == found.precision_at_positives == 0.5
    assert found.average_precision == pytest.approx((1 + 2 / 3) / 2)
    rate = 1 / (1 + np.exp(-logits))
    assert found.brier == pytest.approx(((rate - [1, 0, 1, 0, 0]) ** 2).mean())
    assert found.base_brier == pytest.approx(0.24)
    assert found.base_log_loss == pytest.approx(0.6730117)
    thousand = measure_rare(np.linspace(-5, -1, 1000), np.arange(1000) >= 980)
    groups = thousand.calibration
    assert [group.positions for group in groups] == [250, 250, 250, 150, 50, 30, 10, 10]
    assert [group.actual for group in groups] == [0, 0, 0, 0, 0, 0, 1, 1]
    assert groups[-1].predicted == pytest.approx(0.2657, abs=1e-3)
    none = measure_rare(logits, np.zeros(5, bool))
    assert none.recall is none.average_precision is None
    assert none.base_log_loss == 0


def test_policy_figures_by_hand() -> None:
    batch = read_all([SAMPLE])
    few = Batch(**{name: getattr(batch, name)[:4] for name in BATCH_FIELDS})
    few.move[3] = 0
    labels = move_labels(few.move, few.turn)
    policy = np.zeros((4, 2187), np.float32)
    policy[[0, 1], labels[[0, 1]]] = 1000.0
    metrics = PolicyMetrics()
    metrics.add(Predictions(policy, np.zeros(4, np.float32)), few)
    report = metrics.heads()
    assert report.policy_accuracy == pytest.approx(2 / 3)
    assert report.policy_loss == pytest.approx(np.log(2187) / 3)


@pytest.mark.parametrize("name", ["auxiliary_weight", "positive_weight_cap"])
@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_invalid_weights_are_refused(some_games: tuple[Path, Path], tmp_path: Path, name: str, weight: float) -> None:
    with pytest.raises(OptionError) as refused:
        options(some_games, tmp_path / "run", **{name: weight}).check()
    assert refused.value.fields == (name,)


def test_invalid_dimensions_are_refused(some_games: tuple[Path, Path], tmp_path: Path) -> None:
    for config, words in (
        (ResnetConfig(blocks=0), "`blocks` 0: must be at least 1"),
        (ResnetConfig(squeeze=100), "at most the 64 channels"),
        (ResnetConfig(auxiliary=("entered", "entered")), "named twice"),
    ):
        with pytest.raises(ValueError, match=words):
            train_resnet(options(some_games, tmp_path / "run", network=config))
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="PyTorch finds no GPU"):
            train_resnet(options(some_games, tmp_path / "run", device="cuda"))
    assert not (tmp_path / "run").exists()
    save_resnet(tmp_path / "net.safetensors", PolicyValueNetwork(ResnetConfig(1, 8)), {})
    content = (tmp_path / "net.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(content[:5000])
    with pytest.raises(ValueError, match="only a part of one"):
        load_resnet(tmp_path / "cut.safetensors")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_the_steps_of_a_cpu(
    some_games: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    batches = list(Reader([some_games[0]], 128, seed=5, mark_entered=True))[:5]
    losses: dict[str, list[float]] = {}
    for device in ("cpu", "cuda"):
        chosen = options(some_games, tmp_path / device, device=device, precision="float32", max_steps=5)
        run = Run(chosen, ResnetTask)
        losses[device] = [run.take_step(batch)["loss"] for batch in batches]
        train_resnet(chosen)
    assert losses["cuda"] == pytest.approx(losses["cpu"], rel=1e-4)
    reports = {device: measure_resnet(str(tmp_path / device), (some_games[1],)) for device in losses}
    policy_losses = {device: report.heads.policy_loss for device, report in reports.items()}
    assert policy_losses["cuda"] == pytest.approx(policy_losses["cpu"], rel=1e-3)
    changes = {"device": "auto", "precision": "float32", "resume": True, "max_steps": None}
    found = train_resnet(options(some_games, tmp_path / "cuda", **changes))
    assert found.step == found.steps
    as_it_comes = train_resnet(options(some_games, tmp_path / "bfloat16", device="auto"))
    assert as_it_comes.tested is not None
    assert as_it_comes.tested.parts["policy_loss"] < np.log(2187)
