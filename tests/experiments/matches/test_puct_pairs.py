"""Matches of PUCT players in process: the same pairs after interruptions, and only comparable players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.games.player import Ending, PuctPlayer
from experiments.matches.in_process_match import Match, play_match
from experiments.matches.pair import PairSettings
from experiments.matches.pair_kif import write_pairs
from experiments.matches.pair_task import PairTask
from experiments.matches.puct_pairs import STRICT
from experiments.puct_selfplay.puct_game import Game
from experiments.puct_selfplay.search import search_together
from experiments.tuning.tune import Tuning, tune
from lite.records.batch import labelled_dtype
from lite.records.file import Refusals, decode_games
from search.puct.engine import Settings, even_network
from search.puct.leaves import Leaves
from search.rules.shogi import BLACK, WHITE


def match(net: Path, folder: Path, **changes: object) -> Match:
    chosen: dict[str, object] = {"nodes": 8, "games": 4, "max_moves": 24, "random_plies": (0, 3), "balance": 9999}
    return Match(**({"first": str(net), "second": str(net), "output": folder} | chosen | changes))  # type: ignore[arg-type]


def test_a_match_is_counted_and_resumed(onnx_file: Path, tmp_path: Path) -> None:
    first = play_match(match(onnx_file, tmp_path / "a", parallel=1))
    more = play_match(match(onnx_file, tmp_path / "a", games=8, parallel=2))
    whole = play_match(match(onnx_file, tmp_path / "b", games=8, parallel=2))
    assert first.games == 4
    for name in ("games", "wins", "draws", "losses", "pentanomial", "positions", "nodes_of_first", "endings"):
        assert getattr(more, name) == getattr(whole, name)
    assert more.games == more.wins + more.draws + more.losses == 8
    assert "net.onnx (8 nodes)" in more.first
    raw = np.fromfile(tmp_path / "b" / "shard_00000.hcpe3", np.uint8)
    refusals = Refusals()
    found = decode_games(raw, 8, np.empty(2000, labelled_dtype), "b", refusals, read_visits=True)
    assert not refusals.refused
    assert len(found.positions) == whole.positions


def test_kif_has_the_colours_of_players_if_a_game_of_the_pair_has_no_move(onnx_file: Path, tmp_path: Path) -> None:
    """A mate in one that only the first player has enough playouts to prove, so one game, both games or neither of the
    pair have moves."""
    path = tmp_path / "openings.sfen"
    path.write_text("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1\n")
    rest = {"games": 2, "max_moves": 9, "random_plies": (0, 0), "balance": Match.balance, "openings": path}
    for nodes, others, black in ((200, 2, {2: "b"}), (2, 200, {1: "a"}), (2, 2, {1: "a", 2: "b"}), (200, 200, {})):
        folder = tmp_path / f"{nodes} {others}"
        report = play_match(match(onnx_file, folder, nodes=nodes, second_nodes=others, **rest))
        assert report.games == 2
        assert write_pairs(folder, lambda _: ("a", "b")) == len(black)
        files = {one.name: one.read_text(encoding="utf-8") for one in (folder / "kif").iterdir()}
        assert sorted(files) == [f"00001-{number}.kifu" for number in black]
        for number, name in black.items():
            assert f"先手：{name}\n後手：{'ab'.strip(name)}\n" in files[f"00001-{number}.kifu"]


def test_the_better_player_wins_with_both_colours(onnx_file: Path) -> None:
    network = onnx_file.read_bytes()
    players = (PuctPlayer(network, 150), PuctPlayer(network, 2))
    task = PairTask(*players, PairSettings(Ending(max_moves=200), ("startpos",), (0, 2), 9999, 0.0, 1))
    counts = task.open().run(1).counts
    assert counts.get("wins as black", 0) + counts.get("wins as white", 0) == 2
    assert counts["nodes of first"] > 10 * counts["nodes of second"]


def test_each_player_has_its_own_tree() -> None:
    game = Game("startpos", Ending(), Settings(), 1, False, first_colour=WHITE)
    trees, random = [], np.random.default_rng(1)
    for ply in range(4):
        game.begin_move()
        assert game.player == (ply + 1) % 2
        trees.append(game.tree)
        search_together([game], 20, even_network, Leaves(1))
        assert game.score is not None
        game.end_move(STRICT, random)
    assert trees[0] is trees[2]
    assert trees[1] is trees[3]
    assert trees[0] is not trees[1]
    alone = Game("startpos", Ending(), Settings(), 1, False)
    assert alone.player == BLACK == 0


def test_players_that_cannot_be_compared_are_refused(onnx_file: Path, tmp_path: Path) -> None:
    for changes, words in (
        ({"second": "default"}, "one is played by PUCT and one by alpha-beta, whose nodes do not compare"),
        ({"nodes": 0, "depth": 3}, "net.onnx: is played by PUCT, which is limited by `nodes`"),
        ({"nodes": 1}, "limited by `nodes`, 2 to 65,535"),
        ({"nodes": 65_536}, "limited by `nodes`, 2 to 65,535"),
        ({"second_nodes": 65_536}, "limited by `nodes`, 2 to 65,535"),
        ({"first_option": ("C_init=100",)}, "net.onnx: C_init=100: a PUCT player in this process has no options"),
    ):
        with pytest.raises(ValueError, match=words):
            play_match(match(onnx_file, tmp_path / "a", **changes))


def test_verbs_for_alpha_beta_refuse_puct_players(onnx_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"net.onnx: is played by PUCT; give a network that alpha-beta plays"):
        tune(Tuning(net=str(onnx_file), nodes=50, games=100, output=tmp_path / "tuning"))
    assert not (tmp_path / "tuning").exists()
