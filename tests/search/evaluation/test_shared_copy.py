"""The copy by which processes share a large file: equal networks, damaged and missing copies, and no space."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.evaluation import network_file
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network, save_network
from search.evaluation.nnue_file import read_nnue
from search.evaluation.shared_copy import KEPT
from tests.yaneuraou_networks import network_bytes

SFNN = "SFNN_kp_64_7_32_k3k3"
CLASSIC = "kp_32x2_8_16"


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of copies; every file counts as large."""
    monkeypatch.setattr(network_file, "CACHE_DIRECTORY", tmp_path / "cache" / "environment")
    monkeypatch.setattr(network_file, "LARGE_FILE", 0)
    return tmp_path / "cache" / "networks"


def write(path: Path, architecture: str, seed: int = 1) -> Path:
    path.write_bytes(network_bytes(architecture, seed))
    return path


def mapped(net: EvalNetwork) -> bool:
    """Return whether the rows are in a mapped file."""
    base = net.rows
    while isinstance(base.base, np.ndarray):
        base = base.base
    return isinstance(base, np.memmap)


def assert_equal(net: EvalNetwork, other: EvalNetwork) -> None:
    """Assert that two networks have equal numbers and the same origin."""
    assert np.array_equal(net.rows, other.rows)
    assert net.rows.dtype == other.rows.dtype
    assert np.array_equal(net.bias, other.bias)
    for layer, second in zip(net.layers, other.layers, strict=True):
        assert np.array_equal(layer.weight, second.weight)
        assert np.array_equal(layer.bias, second.bias)
    assert (net.output_divisor, net.provenance) == (other.output_divisor, other.provenance)


@pytest.mark.parametrize("architecture", [SFNN, CLASSIC])
def test_a_large_file_is_mapped_from_its_copy(tmp_path: Path, copies: Path, architecture: str) -> None:
    path = write(tmp_path / "nn.bin", architecture)
    first, second = load_network(path), load_network(path)
    assert mapped(first)
    assert mapped(second)
    assert len(list(copies.iterdir())) == 1
    for net in (first, second):
        assert_equal(net, read_nnue(path))


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ["nn.bin", "net.safetensors"])
def test_a_file_may_be_overwritten_in_place_while_its_network_is_used(
    tmp_path: Path, copies: Path, monkeypatch: pytest.MonkeyPatch, name: str, large: bool
) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    expected = read_nnue(path)
    if name != path.name:
        save_network(expected, tmp_path / name)
    monkeypatch.setattr(network_file, "LARGE_FILE", 0 if large else 1 << 30)
    net = load_network(tmp_path / name)
    assert mapped(net) == large
    with open(tmp_path / name, "r+b") as file:
        file.write(b"\xff" * 5000)
        file.truncate(5000)
    assert_equal(net, expected)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("part", [0, 1000])
def test_a_file_that_is_overwritten_while_it_is_read_is_read_again(
    tmp_path: Path, copies: Path, monkeypatch: pytest.MonkeyPatch, large: bool, part: int
) -> None:
    """`part`: bytes that are missing at first, so that the reading fails."""
    path = write(tmp_path / "nn.bin", SFNN, seed=1)
    path.write_bytes(path.read_bytes()[: -part or None])
    monkeypatch.setattr(network_file, "LARGE_FILE", 0 if large else 1 << 30)
    seeds = [2, 3]

    def read(path: Path, *settings: Any) -> EvalNetwork:
        try:
            return read_nnue(path, *settings)
        finally:
            if seeds:
                write(path, SFNN, seeds.pop(0))
                os.utime(path, (len(seeds), len(seeds)))

    monkeypatch.setattr(network_file, "read_nnue", read)
    net = load_network(path)
    assert not seeds
    assert_equal(net, read_nnue(path))
    assert len(list(copies.iterdir()) if copies.exists() else []) == large
    seeds.extend(range(9))
    write(path, SFNN, seed=10)
    with pytest.raises(ValueError, match=r"nn\.bin: is being written to"):
        load_network(path)


def test_a_copy_belongs_to_the_content_and_the_scale(tmp_path: Path, copies: Path) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    load_network(write(tmp_path / "same.bin", SFNN))
    assert len(list(copies.iterdir())) == 1
    assert load_network(path, fv_scale=24).output_divisor == 24
    assert load_network(path).output_divisor == 16
    write(path, SFNN, seed=2)
    assert_equal(load_network(path), read_nnue(path))


def test_another_version_of_the_reader_makes_its_own_copy(
    tmp_path: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    monkeypatch.setattr(network_file, "code_name", lambda file, loaded: "another version")
    assert_equal(load_network(path), read_nnue(path))
    assert len(list(copies.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 3000])
def test_a_damaged_copy_is_written_again(tmp_path: Path, copies: Path, content: bytes) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    (copy,) = copies.iterdir()
    size = copy.stat().st_size
    copy.write_bytes(content)
    assert_equal(load_network(path), read_nnue(path))
    assert copy.stat().st_size == size


def test_one_changed_byte_of_a_copy_is_noticed(tmp_path: Path, copies: Path) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    (copy,) = copies.iterdir()
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)
    assert_equal(load_network(path), read_nnue(path))


def test_without_a_cache_the_file_is_read(tmp_path: Path, copies: Path) -> None:
    copies.parent.write_bytes(b"a file where the folder should be")
    path = write(tmp_path / "nn.bin", SFNN)
    net = load_network(path)
    assert not mapped(net)
    assert_equal(net, read_nnue(path))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permission bits")
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, copies: Path) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    copies.chmod(0o777)
    (copy,) = copies.iterdir()
    assert not mapped(load_network(path))
    assert copy.exists()
    copy.unlink()
    assert not mapped(load_network(path))
    assert not copy.exists()


def test_the_oldest_copies_are_deleted(tmp_path: Path, copies: Path) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    for scale in range(1, KEPT + 3):
        load_network(path, fv_scale=scale)
        newest = max(copies.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        os.utime(newest, (scale, scale))  # seconds after 1970, in the order of use
    assert len(list(copies.iterdir())) == KEPT
    assert sorted(int(one.stat().st_mtime) for one in copies.iterdir()) == list(range(3, KEPT + 3))


def test_a_wrong_name_is_refused_as_without_a_copy(tmp_path: Path, copies: Path) -> None:
    path = write(tmp_path / "nn.bin", SFNN)
    load_network(path)
    with pytest.raises(ValueError, match=r"nn\.bin"):
        load_network(path, architecture="SFNN_kp_64_7_32_k9k9")


@pytest.mark.parametrize("name", ["nn.bin", "net.safetensors"])
def test_two_processes_share_the_rows(tmp_path: Path, copies: Path, name: str) -> None:
    path = write(tmp_path / "nn.bin", "halfkp_64x2_8_16")
    if name != path.name:
        save_network(read_nnue(path), tmp_path / name)
        path = tmp_path / name
    if not Path("/proc/self/smaps").exists():
        pytest.skip("only Linux reports how much memory is shared")
    code = (
        "import sys, re\n"
        "from pathlib import Path\n"
        "from search.evaluation import network_file\n"
        f"network_file.CACHE_DIRECTORY = Path({str(copies.parent / 'environment')!r})\n"
        "network_file.LARGE_FILE = 0\n"
        f"net = network_file.load_network({str(path)!r})\n"
        "int(net.rows.sum()); print('ready', flush=True); sys.stdin.readline()\n"
        "text = Path('/proc/self/smaps').read_text()\n"
        "part = next(one for one in re.split(r'\\n(?=[0-9a-f]+-[0-9a-f]+ )', text) if '/networks/' in one)\n"
        "print(*re.search(r'Rss: +(\\d+)[^P]*Pss: +(\\d+)', part).groups())\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for one in started:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    # The first process to answer while the other still has the rows counts half of them.
    answer, _ = started[0].communicate("\n")
    resident, proportional = map(int, answer.split())
    started[1].communicate("\n")
    assert resident > 7000  # kB: 125,388 rows of 64 bytes
    assert proportional < 0.6 * resident
