"""The benchmark of the evaluation checks its games and prints its figures."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from liteshogi.commands.bench.evaluation import as_json, as_text
from search.evaluation.evaluation_speed import bench_evaluation, random_games, random_network, read_move_lists
from search.evaluation.network_file import save_network


def test_games_of_both_formats_are_read(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.xz"
    lines = [
        json.dumps({"start": "startpos", "moves": ["7g7f", "3c3d", "8h2b+"]}),
        json.dumps({"start": "4k4/9/9/9/9/9/9/9/4K4 b - 1", "moves": ["5i5h"]}),
        "startpos moves 2g2f 8c8d",
        "position startpos moves 2g2f resign",
    ]
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    games = read_move_lists(path, 10)
    assert games.plies == 6
    assert games.starts.tolist() == [0, 3, 5, 6]
    assert read_move_lists(path, 1).plies == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("startpos moves 7g7e", "line 1: move 1, 7g7e, is not legal"),
        ("startpos moves 7g7f hello", "line 1: 'hello' is not a USI move"),
        ("startpos moves 7g7f win 3c3d", "line 1: a move after the ending: '3c3d'"),
        ('{"start": "startpos"}', "line 1: not a game"),
        ('{"moves": [', "line 1: not a game"),
        ('{"moves": [1]}', "line 1: "),
        ('{"moves": ' + "[" * 100_000, "line 1: not a game: its JSON is nested too deeply"),
        ("", "no game from the start position"),
    ],
)
def test_errors_name_invalid_games(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "games.txt"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=message):
        read_move_lists(path, 10)


def test_an_error_names_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.xz"
    whole = lzma.compress(b"startpos moves 7g7f\n" * 9)
    for content in (b"no xz at all", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"games.jsonl.xz: damaged: "):
            read_move_lists(path, 10)
    plain = tmp_path / "games.txt"
    plain.write_bytes(b"startpos moves \xff\n")
    with pytest.raises(ValueError, match=r"games.txt: line 1: "):
        read_move_lists(plain, 10)


def test_the_figures_are_printed(tmp_path: Path) -> None:
    assert random_games(3, 30).plies == 90
    path = tmp_path / "games.txt"
    path.write_text("startpos moves 7g7f 3c3d 8h2b+ 3a2b\n" * 3)
    save_network(random_network("k_p", 64, (8,), 2), tmp_path / "net.safetensors")
    figures = bench_evaluation(str(tmp_path / "net.safetensors"), path, runs=1)
    assert figures.times.network == "k_p 64x2-8"
    assert (figures.positions, figures.games, figures.default) == (12, 3, None)
    printed = json.loads(as_json(figures))
    assert {"update_ns", "forward_ns", "refresh_ns", "kernel", "half_kp", "network"} <= set(printed)
    assert printed["default"] is None
    assert "k_p 64x2-8" in as_text(figures)
    with pytest.raises(ValueError, match="at least 1"):
        bench_evaluation(runs=0)
