"""Shipped networks are known by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.evaluation.network_file import load_network
from search.evaluation.shipped import is_shipped, network_file, shipped_names


def test_every_shipped_network_loads_by_its_name() -> None:
    names = shipped_names()
    assert names[0] == "default"
    for name in names:
        assert is_shipped(name)
        assert load_network(name).width > 0


@pytest.mark.parametrize(
    "net", ["", ".", "..", "no such net", "../networks/default", "/default", "default.safetensors", "a\0b", "x" * 300]
)
def test_anything_else_is_a_path(net: str) -> None:
    assert not is_shipped(net)
    assert network_file(net) == Path(net)


def test_a_file_does_not_hide_a_shipped_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_bytes(b"none")
    assert load_network("default").perspectives == 2
