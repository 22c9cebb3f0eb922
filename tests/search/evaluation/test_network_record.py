"""The record of a network uses a large table where it lies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search.evaluation.network_file import load_network, save_network
from search.evaluation.network_record import network_record
from tests.yaneuraou_networks import network_bytes


@pytest.mark.parametrize("name", ["SFNN_ka2_64_7_32_k3k3", "SFNN_kp_64_7_32_k3k3", "halfkahm1_32x2_8_32"])
def test_a_large_table_is_not_copied(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is read from a file of this format; only K+A2 needs additional rows."""
    monkeypatch.setattr("search.evaluation.network_record.LARGE_TABLE", 0)
    (tmp_path / "nn.bin").write_bytes(network_bytes(name))
    read = load_network(tmp_path / "nn.bin")
    save_network(read, tmp_path / "net.safetensors")
    saved = load_network(tmp_path / "net.safetensors")
    assert saved.rows.dtype == read.rows.dtype == np.int8
    for net in (read, saved):
        assert (int(network_record(net)["rows"]) == net.rows.ctypes.data) == (name != "SFNN_ka2_64_7_32_k3k3")
