"""`liteshogi floodgate` as a program: its output, and what Ctrl-C does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.csa.play import play_on_server
from experiments.csa.server_play import ServerPlay
from lite.run_folder import read_run
from tests.experiments.csa.conftest import GAME, differences
from tests.experiments.csa.csa_server import CsaServer

PATIENCE = 100.0
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def started(server: CsaServer, folder: Path, scripted, *more: str) -> subprocess.Popen[str]:
    folder.mkdir()
    (folder / "password").write_text("secret\n")
    command = [sys.executable, "-m", "liteshogi", "floodgate", "alice", "--host", "127.0.0.1", "--port"]
    command += [str(server.port), "--game", GAME, "--engine", scripted.command("slow"), "-o", str(folder / "run")]
    command += ["--password-file", str(folder / "password"), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def opponent(server: CsaServer, folder: Path, scripted, games: int) -> threading.Thread:
    options = ServerPlay(
        name="bob", host="127.0.0.1", port=server.port, game=GAME, engine=scripted.command(), games=games, output=folder
    )
    thread = threading.Thread(target=play_on_server, args=(options, "other"), daemon=True)
    thread.start()
    return thread


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_command_prints_its_report_and_writes_the_games(tmp_path, scripted):
    with CsaServer() as server:
        process = started(server, tmp_path / "alice", scripted, "--games", "2", "--json")
        opponent(server, tmp_path / "bob", scripted, 2)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert (report["games"], report["draws"], report["losses_on_time"]) == (2, 2, 0)
    assert "game 1: black against bob" in err
    assert "secret" not in out + err
    assert differences(tmp_path / "alice" / "run", server.records) == []


@POSIX
def test_the_first_ctrl_c_ends_the_run_after_the_game(tmp_path, scripted):
    with CsaServer() as server:
        process = started(server, tmp_path / "alice", scripted)
        opponent(server, tmp_path / "bob", scripted, 1)
        wait_until(lambda: server.records and len(server.records[0].moves) >= 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "ending after this game" in err
    assert "1 game, wins - draws - losses 0 - 1 - 0" in out
    assert server.records[0].ending == "sennichite"
    assert read_run(tmp_path / "alice" / "run").state == "interrupted"


@POSIX
def test_the_second_ctrl_c_resigns_at_once(tmp_path, scripted):
    with CsaServer() as server:
        process = started(server, tmp_path / "alice", scripted)
        opponent(server, tmp_path / "bob", scripted, 1)
        wait_until(lambda: server.records and len(server.records[0].moves) >= 2)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        wait_until(lambda: server.records[0].ending)
    assert (process.returncode, err.splitlines()[-1]) == (130, "interrupted")
    assert server.records[0].ending in ("toryo", "abnormal")
    assert server.records[0].winner == server.records[0].names.index("bob")
    assert (tmp_path / "alice" / "run" / "kif" / "0001.kifu").exists()


@POSIX
def test_ctrl_c_between_games_logs_out(tmp_path, scripted):
    with CsaServer() as server:
        process = started(server, tmp_path / "alice", scripted)
        wait_until(lambda: server.logins)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        wait_until(lambda: "LOGOUT" in server.clients[0].received)
    assert "0 games" in out


def test_the_password_is_required(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "CSA_PASSWORD"}
    command = [sys.executable, "-m", "liteshogi", "floodgate", "alice", "-o", str(tmp_path / "run")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert done.stderr == "error: --password-file: required, or set the variable CSA_PASSWORD\n"
    assert not (tmp_path / "run").exists()
