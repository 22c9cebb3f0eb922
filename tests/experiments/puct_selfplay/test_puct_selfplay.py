"""Self-play by PUCT: games and candidates are legal for cshogi, and kills do not repeat games."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import pytest
import torch
from torch.nn import functional

from experiments.games.compiled_game import DECLARATION, MATE
from experiments.games.openings import Openings
from experiments.games.player import Ending
from experiments.jobs.workforce import Workforce
from experiments.network_kinds.policy_value_bytes import network_bytes
from experiments.puct_selfplay.exploration import Exploration
from experiments.puct_selfplay.puct_game import Game
from experiments.puct_selfplay.search import search_together
from experiments.puct_selfplay.selfplay import PuctSelfPlay, PuctTask, puct_self_play
from experiments.resnet.network import ResnetConfig
from experiments.resnet.policy_target import policy_target
from experiments.resnet.testing import load_predictor
from experiments.resnet.train import ResnetTraining, train_resnet
from lite.records.formats import candidate_dtype, game_dtype, move_dtype
from lite.records.reader import read_all
from search.puct.engine import Settings, even_network
from search.puct.leaves import Leaves

PLAYOUTS = 12
QUICK = {"playouts": PLAYOUTS, "games": 4, "ending": Ending(max_moves=30), "seed": 7}


def split(raw: bytes) -> list[bytes]:
    """Split a file into games by their headers; check by cshogi that moves and candidates are legal."""
    games, at = [], 0
    while at < len(raw):
        start, head = at, np.frombuffer(raw, game_dtype, 1, at)[0]
        at += game_dtype.itemsize
        board = cshogi.Board()
        board.set_hcp(head["hcp"].copy())
        assert head["moves"]
        assert head["opponent"] == 0
        for _ in range(head["moves"]):
            row = np.frombuffer(raw, move_dtype, 1, at)[0]
            found = np.frombuffer(raw, candidate_dtype, row["candidates"], at + move_dtype.itemsize)
            at += move_dtype.itemsize + found.nbytes
            legal = {cshogi.move16(move) for move in board.legal_moves}
            visits = dict(found.tolist())
            assert len(visits) == len(found)
            assert visits.keys() <= legal
            assert visits[int(row["move"])] > 0
            assert sum(visits.values()) == PLAYOUTS - 1
            board.push(board.move_from_move16(int(row["move"])))
        games.append(raw[start:at])
    return games


def shards(folder: Path) -> list[bytes]:
    return split(b"".join(path.read_bytes() for path in sorted(folder.glob("*.hcpe3"))))


def test_games_are_readable_by_cshogi(onnx_file: Path, tmp_path: Path) -> None:
    report = puct_self_play(PuctSelfPlay(str(onnx_file), tmp_path / "a", 300, workforce=Workforce(2), **QUICK))
    games = shards(tmp_path / "a")
    assert report.count("games") == len(games) == len(set(games))
    batch = read_all([tmp_path / "a"], read_visits=True)
    assert len(batch) == report.count("positions") >= 300
    assert batch.visits is not None
    sums = np.bincount(batch.visits.position, batch.visits.visits, len(batch))
    assert (sums == PLAYOUTS - 1).all()
    assert policy_target(batch).known == len(batch)
    assert report.count("nodes") <= PLAYOUTS * report.count("positions") + PLAYOUTS * report.count("games")


def task(onnx_file: Path) -> PuctTask:
    exploration, settings = Exploration(), Settings()
    network = network_bytes(str(onnx_file))
    return PuctTask(network, Openings(), Ending(max_moves=30), exploration, settings, 0.0, PLAYOUTS, 4, 1)


def test_a_job_depends_only_on_its_number(onnx_file: Path) -> None:
    first, second = task(onnx_file).open(), task(onnx_file).open()
    product = first.run(3)
    second.run(1)
    assert second.run(3) == product
    assert first.run(4) != product
    assert len(split(product.content)) == product.counts["games"]


def test_games_vary_only_by_exploration(onnx_file: Path) -> None:
    still = Exploration(noise_share=0, soft_plies=0)
    for exploration, different in ((still, 1), (replace(still, noise_share=0.5), 2), (replace(still, soft_plies=9), 2)):
        worker = replace(task(onnx_file), exploration=exploration).open()
        assert len(set(split(worker.run(1).content))) >= different
        assert different > 1 or len(set(split(worker.run(1).content))) == 1


def test_a_trained_network_is_exported_automatically(trained: Path, onnx_file: Path, tmp_path: Path) -> None:
    puct_self_play(PuctSelfPlay(str(trained), tmp_path / "a", 100, workforce=Workforce(1), **QUICK))
    puct_self_play(PuctSelfPlay(str(onnx_file), tmp_path / "b", 100, workforce=Workforce(1), **QUICK))
    assert shards(tmp_path / "a") == shards(tmp_path / "b")


def test_a_generation_learns_the_visits_of_the_previous_one(trained: Path, tmp_path: Path) -> None:
    puct_self_play(PuctSelfPlay(str(trained), tmp_path / "games", 400, workforce=Workforce(1), **QUICK))
    options = ResnetTraining(
        data=(tmp_path / "games",),
        output=tmp_path / "next",
        network=ResnetConfig(1, 8, value_hidden=8),
        init_from=trained,
        epochs=12,
        batch_size=64,
        device="cpu",
    )
    train_resnet(options)
    batch = read_all([tmp_path / "games"], read_visits=True)
    target = policy_target(batch)
    losses = []
    for net in (trained, tmp_path / "next"):
        logits = torch.from_numpy(load_predictor(net)(batch).policy)
        chosen = functional.log_softmax(logits, 1)[target.position, target.label]
        losses.append(-float((chosen * torch.from_numpy(target.share)).sum()) / target.known)
    assert losses[0] == pytest.approx(np.log(2187), abs=0.5)
    assert losses[1] < losses[0] - 1


@pytest.mark.parametrize(
    ("sfen", "ending", "winner"),
    [
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", MATE, 0),
        ("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", MATE, 0),
        ("1K1G1S3/GRR1GL3/B1B1SS3/9/9/9/9/9/4k4 b 18P 1", DECLARATION, 0),
    ],
)
def test_decided_games_end(sfen: str, ending: int, winner: int) -> None:
    game = Game(sfen, Ending(), Settings(), 1, False)
    game.begin_move()
    if not game.is_over:
        search_together([game], 100, even_network, Leaves(1))
        game.end_move(Exploration(), np.random.default_rng(1))
    assert game.is_over
    played = game.finished()
    assert (played.ending, played.winner, len(played.moves)) == (ending, winner, 0)


def test_moves_without_visits_are_no_candidates() -> None:
    game = Game("startpos", Ending(), Settings(), 4, False)
    game.begin_move()
    search_together([game], 60, even_network, Leaves(1))
    edges = game.tree.root_edges()
    tried = edges["child"][edges["child"] >= 0]
    game.tree.nodes["visits"][tried[-1]] = 0  # as after moves that made a repetition worthless
    game.end_move(Exploration(), np.random.default_rng(1))
    _, visits = game._visits[-1]
    assert (visits > 0).all()
    assert len(visits) == len(tried) - 1


COMMAND = "from liteshogi.__main__ import main; main()"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_run_resumes(onnx_file: Path, tmp_path: Path) -> None:
    words = ["selfplay", "puct", str(onnx_file), "--positions", "1500", "--playouts", str(PLAYOUTS), "--games", "4"]
    words += ["--max-moves", "30", "--workers", "2"]
    ledger = tmp_path / "killed" / "results.jsonl"
    command = [sys.executable, "-c", COMMAND, *words]
    for lines in (2, 5):
        process = subprocess.Popen([*command, "-o", str(tmp_path / "killed")], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < end:
            if ledger.exists() and ledger.read_bytes().count(b"\n") >= lines:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    for folder in ("killed", "whole"):
        subprocess.run([*command, "-o", str(tmp_path / folder)], check=True, capture_output=True)
    killed, whole = shards(tmp_path / "killed"), shards(tmp_path / "whole")
    assert len(set(killed)) == len(killed)
    # With two workers the last job may differ; all others are the same.
    assert len(set(killed) & set(whole)) >= min(len(killed), len(whole)) - 8


def test_invalid_options_are_refused(onnx_file: Path, tmp_path: Path) -> None:
    for wrong, words in (
        ({"net": "default"}, "default: is a folded network, where a policy-value network is needed"),
        ({"net": str(tmp_path / "none.onnx")}, "none.onnx: there is no such file"),
        ({"playouts": 1}, "`playouts` 1: must be at least 2"),
        ({"playouts": 70_000}, "`playouts` 70000: must be at most 65,535"),
        ({"random_plies": (3, 1)}, "`random_plies` 3 1"),
        ({"games": 0}, "`games` 0"),
        ({"policy_temperature": 0.0}, "`policy_temperature` 0.0"),
        ({"exploration": Exploration(noise_share=2)}, "`noise_share` 2"),
    ):
        options = {"net": str(onnx_file), "output": tmp_path / "a"} | wrong
        with pytest.raises((ValueError, OSError), match=words):
            puct_self_play(PuctSelfPlay(**options))
    assert not (tmp_path / "a").exists()
