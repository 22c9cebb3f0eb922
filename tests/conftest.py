"""Fixtures of all tests: network files in other programs' formats, and default signal handling in processes."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings, strategies

from search.compiling import cache_files

FEATURES = {"half_kp": ("HalfKP(Friend)", 0x5D69D5B8, 125_388), "k_p": ("K+P", 0x3F5717FF, 1710)}

# The time of an example depends on the machine; the fixtures that examples share are folders and open engines.
settings.register_profile(
    "unhurried",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("unhurried")

# Concurrent tests compile the same code. A notice that one waits for another would appear in the tested output.
cache_files.PATIENCE_SECONDS = float("inf")

# Jobs that a shell starts in the background ignore Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# `nohup` does the same with SIGHUP. This process keeps ignoring it; processes that it starts have the default.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--data`."""
    parser.addoption(
        "--data",
        type=Path,
        default=Path("../shared/data"),
        help="folder of recorded data: games/games.jsonl.xz, mate/mate_problems.jsonl, nnue/",
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave imported modules out of later collections of garbage.

    If tests are only collected (`make bytecode`), make Hypothesis store its tables of characters and constants. If they
    are missing, each test process computes them, which takes seconds.
    """
    gc.collect()
    gc.freeze()
    if session.config.option.collectonly:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # examples are meant for interactive use
            strategies.text().example()


@pytest.fixture(scope="session")
def data_folder(request: pytest.FixtureRequest) -> Path:
    """Return the folder of recorded data, which need not exist."""
    folder: Path = request.config.getoption("--data")
    return folder


def nnue_words(features: str, width: int, first: int, second: int, sparse: str = "") -> str:
    name, _, rows = FEATURES[features]
    return (
        f"Features={name}[{rows}->{width}x2],Network=AffineTransform[1<-{second}](ClippedReLU[{second}]("
        f"AffineTransform[{second}<-{first}](ClippedReLU[{first}](AffineTransform{sparse}[{first}<-{2 * width}]("
        f"InputSlice[{2 * width}(0:{2 * width})])))))"
    )


def nnue_hashes(features: str, width: int, first: int, second: int) -> tuple[int, int]:
    """Return the hash of the rows and the hash of the layers."""
    inner = 0xEC42E90D ^ (2 * width)
    for outputs, activated in ((first, True), (second, True), (1, False)):
        inner = ((0xCC03DAE4 + outputs) % (1 << 32)) ^ (inner >> 1) ^ (inner << 31) % (1 << 32)
        inner = (inner + 0x538D24C7 * activated) % (1 << 32)
    return FEATURES[features][1] ^ (2 * width), inner


@pytest.fixture(scope="session")
def nnue_content() -> Callable[..., bytes]:
    """nnue_content(features, width, first, second, words=None, hashes=None): an nn.bin with random weights."""

    def make(
        features: str,
        width: int,
        first: int,
        second: int,
        words: str | bytes | None = None,
        hashes: tuple[int, int, int] | None = None,
    ) -> bytes:
        generator = np.random.default_rng(width + first + second)
        if words is None:
            words = nnue_words(features, width, first, second, "SparseInput")
        encoded = words.encode() if isinstance(words, str) else words
        row_hash, layer_hash = nnue_hashes(features, width, first, second)
        file_hash, row_hash, layer_hash = hashes or (row_hash ^ layer_hash, row_hash, layer_hash)
        content = [struct.pack("<3I", 0x7AF32F16, file_hash, len(encoded)), encoded, struct.pack("<I", row_hash)]
        rows = FEATURES[features][2]
        content += [generator.integers(-60, 120, width, np.int16).astype("<i2").tobytes()]
        content += [generator.integers(-40, 41, (rows, width), np.int16).astype("<i2").tobytes()]
        content += [struct.pack("<I", layer_hash)]
        inputs = 2 * width
        for outputs, scale in ((first, 12), (second, 40), (1, 100)):
            weight = np.zeros((outputs, -(-inputs // 32) * 32), np.int8)
            weight[:, :inputs] = generator.integers(-scale, scale + 1, (outputs, inputs))
            weight[0, : min(inputs, 4)] = (127, -128, 127, -128)[:inputs]
            content += [generator.integers(-3000, 3000, outputs).astype("<i4").tobytes(), weight.tobytes()]
            inputs = outputs
        return b"".join(content)

    return make


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, Callable[[Path], object]], Path]:
    """made_once(path, make): copy to `path` the file that make(path) makes; only one test process calls `make`."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent

    def copied(path: Path, make: Callable[[Path], object]) -> Path:
        from filelock import FileLock  # which PyTorch provides

        common = place / f"made once {path.name}"
        with FileLock(f"{common}.lock"):
            if common.exists():
                shutil.copy(common, path)
            else:
                make(path)
                shutil.copy(path, common)
        return path

    return copied


@pytest.fixture(scope="session")
def one_torchlib() -> Iterator[None]:
    """Make PyTorch read its ONNX operators once per process; each export would spend a quarter of its time on it."""
    try:
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        read = ONNXRegistry.from_torchlib
    except (ImportError, AttributeError):  # other versions of PyTorch read them each time
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(functools.cache(read)))
        yield


@pytest.fixture(scope="session")
def tiny_onnx(tmp_path_factory: pytest.TempPathFactory, made_once: Callable[..., Path]) -> Path:
    """Return the path (with a space) of a network of one block with random weights and a draw head."""

    def make(path: Path) -> None:
        import torch

        from experiments.resnet.network import PolicyValueNetwork, ResnetConfig
        from experiments.resnet.onnx import export_resnet
        from export.positions import random_sample

        torch.manual_seed(11)
        export_resnet(PolicyValueNetwork(ResnetConfig(1, 8, value_hidden=16, draw=True)).eval(), path, random_sample(8))

    return made_once(tmp_path_factory.mktemp("a model") / "tiny net.onnx", make)
