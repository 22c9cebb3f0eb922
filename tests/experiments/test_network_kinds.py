"""Networks of every kind: detected from the file, tested, evaluated, exported and played."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import torch

from experiments.network_kinds.exporting import UnsuitableSuffix, export
from experiments.network_kinds.kind import Kind, UnplayableNetwork, kind_of
from experiments.network_kinds.player_command import as_player
from experiments.network_kinds.position_values import evaluate
from experiments.network_kinds.search_speed import measure_search
from experiments.network_kinds.testing import measure_network
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig, save_resnet
from export.fold import Folding, fold_file
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import KpConfig
from lite.training.checkpoint import UnfoldedCorrection, save_model
from liteshogi.remedies import remedy
from search.alphabeta.bench import BenchResult
from search.evaluation.network_file import NetworkFolder, load_network
from search.evaluation.nnue_identification import MissingSetting
from search.puct.playout_speed import PlayoutSpeed
from search.system.options import OptionError
from tests.yaneuraou_networks import network_bytes, without_text

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"
SFENS = (
    "startpos",
    "startpos moves 7g7f",
    "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28",
)
KINDS = {
    "value": Kind.VALUE,
    "value/network.safetensors": Kind.VALUE,
    "policy": Kind.POLICY_VALUE,
    "policy/network.safetensors": Kind.POLICY_VALUE,
    "value.onnx": Kind.VALUE_ONNX,
    "policy.onnx": Kind.POLICY_VALUE_ONNX,
    "folded.safetensors": Kind.FOLDED,
    "nn.bin": Kind.FOLDED,
}


@pytest.fixture(scope="module")
def nets(one_torchlib: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a network of every kind; value.onnx and folded.safetensors are made from `value`."""
    place = tmp_path_factory.mktemp("nets")
    torch.manual_seed(3)
    save_model(place / "value" / "network.safetensors", LiteConfig((4, 2, 8)).build().eval(), {"cp_per_logit": 400.0})
    save_model(place / "k_p" / "network.safetensors", KpConfig(32, (8, 8)).build().eval(), {})
    drawing = LiteConfig((4, 2, 8), draw=True).build().eval()
    save_model(place / "drawing" / "network.safetensors", drawing, {"cp_per_logit": 400.0})
    fold_file(Folding(place / "drawing", place / "drawing.safetensors", positions=500))
    export(str(place / "drawing"), place / "drawing.onnx")
    policy = PolicyValueNetwork(ResnetConfig(1, 8, value_hidden=8, draw=True))
    save_resnet(place / "policy" / "network.safetensors", policy.eval(), {"cp_per_logit": 500.0})
    fold_file(Folding(place / "value", place / "folded.safetensors", positions=500))
    fold_file(Folding(place / "k_p", place / "k_p.safetensors", positions=500))
    export(str(place / "k_p.safetensors"), place / "nn.bin")
    export(str(place / "value"), place / "value.onnx")
    export(str(place / "policy"), place / "policy.onnx")
    return place


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_every_kind_is_detected_and_tested(name: str, kind: Kind, nets: Path) -> None:
    assert kind_of(str(nets / name)) is kind
    report = measure_network(str(nets / name), (SAMPLE,), positions=170, batch_size=100)
    assert report.positions == 170
    assert (report.records_read, report.refused) == (300, {})
    assert report.log_loss is not None
    assert 0 < report.log_loss < 2
    assert (report.policy_accuracy is not None) == kind.has_policy
    assert (report.draw is not None) == kind.has_policy


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("value", "value.onnx"),
        ("value", "folded.safetensors"),
        ("policy", "policy.onnx"),
        ("drawing", "drawing.onnx"),
        ("drawing", "drawing.safetensors"),
    ],
)
def test_a_network_has_the_same_evaluations_in_every_format(one: str, other: str, nets: Path) -> None:
    for mine, theirs in zip(evaluate(str(nets / one), SFENS), evaluate(str(nets / other), SFENS), strict=True):
        assert mine.sfen == theirs.sfen
        assert mine.win_rate == pytest.approx(theirs.win_rate, abs=0.02)
        assert (mine.draw is None) == (theirs.draw is None) == (one == "value")
        if mine.draw is not None:
            assert mine.draw == pytest.approx(theirs.draw, abs=1e-4 if other.endswith("onnx") else 0.02)
        assert (theirs.output is not None) == other.endswith("safetensors")


def test_a_correction_is_no_network_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "correction.safetensors")
    save_model(Path(path), DenseConfig(8).build(), {"options": {"correct": "5f4e"}})
    for use in (
        lambda: measure_network(path, (SAMPLE,)),
        lambda: evaluate(path, SFENS),
        lambda: export(path, tmp_path / "net.onnx"),
        lambda: fold_file(Folding(path, tmp_path / "net.safetensors")),
    ):
        with pytest.raises(UnfoldedCorrection) as refused:
            use()
        assert remedy(refused.value) == f": liteshogi fold {path} --onto NET -o net.safetensors"


def test_zero_threads_are_refused(nets: Path) -> None:
    with pytest.raises(OptionError, match="`threads` 0: must be at least 1"):
        measure_network(str(nets / "value"), (SAMPLE,), threads=0)


def test_a_score_is_on_the_scale_of_the_training(nets: Path) -> None:
    from search.score import win_rate

    for name, scale in (("value", 400.0), ("policy", 500.0)):
        for row in evaluate(str(nets / name), SFENS):
            assert win_rate(row.score_cp, scale) == pytest.approx(row.win_rate, abs=0.001)


def test_a_position_without_kings_is_refused_by_every_kind(nets: Path) -> None:
    for name in ("default", str(nets / "value"), str(nets / "policy.onnx")):
        with pytest.raises(ValueError, match="no black king"):
            evaluate(name, ("4k4/9/9/9/9/9/9/9/9 b - 1",))


@pytest.mark.parametrize(
    ("name", "output", "unfolded"),
    [
        ("value", "nn.bin", True),
        ("policy", "net.bin", False),
        ("folded.safetensors", "net.onnx", False),
        ("value", "vectors.json", True),
    ],
)
def test_a_format_of_another_kind_is_refused(name: str, output: str, unfolded: bool, nets: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in nets.rglob("*")}
    with pytest.raises(UnsuitableSuffix) as refused:
        export(str(nets / name), nets / f"other-{output}")
    error = refused.value
    assert (error.network_path, error.kind, error.unfolded) == (str(nets / name), KINDS[name], unfolded)
    assert remedy(error) == (f": liteshogi fold {nets / name} -o net.safetensors" if unfolded else "")
    assert {path: path.stat().st_mtime_ns for path in nets.rglob("*")} == before


@pytest.mark.parametrize(
    ("name", "made_by"), [("value", "fold value -o net.safetensors"), ("policy", "export policy -o net.onnx"), ("", "")]
)
def test_the_error_for_the_folder_of_a_run_names_the_command(
    name: str, made_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "value" / "network.safetensors", LiteConfig((4, 2, 8)).build().eval(), {})
    save_resnet(tmp_path / "policy" / "network.safetensors", PolicyValueNetwork(ResnetConfig(1, 8)).eval(), {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NetworkFolder, match="a directory; fold a training run") as refused:
        load_network(name or ".")
    assert remedy(refused.value) == (f": liteshogi {made_by}" if made_by else "")


@pytest.mark.parametrize(
    ("name", "output", "words"),
    [
        ("policy.onnx", "net.onnx", "is already an ONNX file"),
        ("value", "value.onnx", "already exists; set `overwrite`"),
    ],
)
def test_an_export_to_an_existing_file_is_refused(name: str, output: str, words: str, nets: Path) -> None:
    with pytest.raises(ValueError, match=words):
        export(str(nets / name), nets / output)


def test_playing_a_network_starts_the_engine_with_it(nets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(nets)
    assert as_player("default") == ("liteshogi", ("EvalFile=default",))
    assert as_player("folded.safetensors") == ("liteshogi", (f"EvalFile={nets / 'folded.safetensors'}",))
    assert as_player("nn.bin") == ("liteshogi", (f"EvalFile={nets / 'nn.bin'}",))
    assert as_player("policy.onnx") == (f"liteshogi puct {nets / 'policy.onnx'}", ())
    for command in ("liteshogi", "/usr/games/engine.bin", "liteshogi puct policy.onnx", "engine --fast", "x" * 5000):
        assert as_player(command) == (command, ())
    for name, suffix in (("folded.safetensors", ".SAFETENSORS"), ("policy.onnx", ".ONNX")):
        shutil.copy(name, loud := f"loud{suffix}")
        assert kind_of(loud) is KINDS[name]
        assert as_player(loud)[0] == as_player(name)[0].replace(name, loud)
    (nets / "liteshogi").mkdir()  # as in the source tree
    assert as_player("liteshogi") == ("liteshogi", ())
    (nets / "liteshogi" / "__main__.py").touch()
    assert as_player("liteshogi") == ("liteshogi", ())
    command, options = as_player(str(nets))
    program, flag, start = shlex.split(command)
    assert (program, flag, options) == (sys.executable, "-c", ())
    assert f"sys.path.insert(0, {nets.as_posix()!r})" in start
    for player in ("default", "liteshogi", str(nets)):
        assert as_player(player, ("Razor_Margin=300",))[0] == f"{as_player(player)[0]} --tunable"
        assert as_player(player, ("Threads=2",))[0] == as_player(player)[0]
    for name, made_by in (("value", "fold"), ("policy", "export"), ("value.onnx", "")):
        with pytest.raises(UnplayableNetwork) as refused:
            as_player(name)
        assert (refused.value.network_path, refused.value.kind) == (name, KINDS[name])
        assert remedy(refused.value).startswith(f": liteshogi {made_by} {name} -o " if made_by else "")
        assert bool(remedy(refused.value)) == bool(made_by)


def test_options_say_how_the_network_of_a_player_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "SFNN_kp_64_7_32_hand64"
    content = network_bytes(name)
    Path("nn.bin").write_bytes(without_text(content))
    options = (f"evalarchitecture={name}", "Threads=1")
    assert as_player("nn.bin", options) == ("liteshogi", (f"EvalFile={tmp_path / 'nn.bin'}", *options))
    for given, problem in (
        ((), r"unknown architecture: .*; name it \(EvalArchitecture\)"),
        (("EvalArchitecture=SFNN_kp_64_7_32",), "EvalArchitecture SFNN_kp_64_7_32: too long"),
    ):
        with pytest.raises(ValueError, match=rf"^nn\.bin: {problem}") as refused:
            as_player("nn.bin", given)
        assert remedy(refused.value) == ""
    with pytest.raises(MissingSetting) as missing:
        as_player("nn.bin")
    assert remedy(missing.value) == ": liteshogi import nn.bin -o net.safetensors --architecture NAME"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["net.safetensors", "nn.bin", "engine"])
def test_a_pipe_is_not_a_network(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=rf"{name}: a pipe or a device; name a regular file"):
        as_player(str(tmp_path / name))


def test_the_speed_is_measured_with_the_search_that_plays(nets: Path) -> None:
    found = measure_search(str(nets / "folded.safetensors"), 2)
    assert isinstance(found, BenchResult)
    assert found.signature is not None
    assert found.signature > 0
    speed = measure_search(str(nets / "policy.onnx"))
    assert isinstance(speed, PlayoutSpeed)
    assert speed.playouts >= 1500
    for limits, field in (((2,), "depth"), ((None, 100), "nodes")):
        with pytest.raises(OptionError) as refused:
            measure_search(str(nets / "policy.onnx"), *limits)
        assert refused.value.fields == (field,)
    with pytest.raises(UnplayableNetwork):
        measure_search(str(nets / "value"))


def test_other_files_are_not_networks(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not the folder of a training run"):
        kind_of(str(tmp_path))
    (tmp_path / "cut.safetensors").write_bytes(b"1234")
    with pytest.raises(ValueError, match="not a safetensors file"):
        kind_of(str(tmp_path / "cut.safetensors"))
    with pytest.raises(OptionError, match="name at least one hcpe"):
        measure_network("default", ())


def test_for_onnx_a_folded_network_is_sent_back_to_its_training(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableSuffix, match="for ONNX name the trained network that it was folded from"):
        export("default", tmp_path / "net.onnx")


def test_for_onnx_an_nn_bin_is_sent_to_other_formats(tmp_path: Path) -> None:
    """It was folded from no network that its user has."""
    (tmp_path / "nn.bin").write_bytes(network_bytes("kp_32x2_8_32"))
    with pytest.raises(UnsuitableSuffix, match=r"net\.onnx; end the output in \.bin or \.h or \.json$"):
        export(str(tmp_path / "nn.bin"), tmp_path / "net.onnx")
