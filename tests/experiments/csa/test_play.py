"""Games of two clients with scripted engines on a server on this machine."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from experiments.csa.server_results import LostConnection, ServerGameLine
from lite.run_folder import read_lines, read_run
from tests.experiments.csa.conftest import differences, kif_of
from tests.experiments.csa.csa_server import CsaServer, Rules


def games_of(folder: Path) -> list[ServerGameLine]:
    return list(read_lines(folder, ServerGameLine))


def test_games_are_drawn_by_repetition_and_kept(play, tmp_path):
    with CsaServer() as server:
        first, second = play(server, 2)
    assert (first.games, first.draws, first.endings) == (second.games, second.draws, second.endings)
    assert (first.games, first.draws, first.endings) == (2, 2, {"SENNICHITE": 2})
    assert first.lost_connections == first.losses_on_time == 0
    for name in ("first", "second"):
        assert differences(tmp_path / name, server.records) == []
        assert read_run(tmp_path / name).state == "done"
    assert [game.colour for game in games_of(tmp_path / "first")] == ["black", "white"]
    assert kif_of(tmp_path / "first", 1).headers["持ち時間"] == "10+2F"


def test_scores_are_sent_and_kept_from_blacks_view(play, tmp_path):
    with CsaServer() as server:
        play(server, 1)
    assert server.records[0].comments[:2] == ["'* 12", "'* -12"]
    game = kif_of(tmp_path / "first", 1)
    assert (game.scores[:3].tolist(), game.scored[:3].tolist()) == ([12, 0, 12], [True, False, True])


def test_scores_are_not_sent_if_they_are_secret(play):
    with CsaServer() as server:
        play(server, 1, comments=False)
    assert set(server.records[0].comments) == {""}


def test_the_password_is_in_no_file(play, tmp_path):
    with CsaServer() as server:
        play(server, 1)
    assert server.logins[0].split(" ", 2)[2].startswith("test-10-2F,secret-")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "an engine"]
    assert len(files) >= 8
    assert not [path for path in files if b"secret-" in path.read_bytes()]
    log = (tmp_path / "first" / "dialogue" / "0001.log").read_text()
    assert re.search(r"^\S+ > LOGIN first test-10-2F,\*{8}$", log, re.M)
    assert re.search(r"^\S+ < #DRAW$", log, re.M)


@pytest.mark.parametrize(
    ("behaviour", "ending"), [("resign", "TORYO"), ("illegal", "TORYO"), ("crash", "TORYO")], ids=lambda text: text
)
def test_a_resignation_of_the_engine_is_sent(behaviour, ending, play, tmp_path):
    with CsaServer() as server:
        first, second = play(server, 1, first=behaviour)
    assert (first.losses, second.wins, first.endings) == (1, 1, {ending: 1})
    assert differences(tmp_path / "first", server.records) == []
    assert server.records[0].ending == "toryo"


def test_an_engine_that_crashes_once_is_started_again(play, capsys):
    with CsaServer() as server:
        first, _ = play(server, 1, first="crash once")
    assert first.endings == {"SENNICHITE": 1}
    assert "the engine failed" in capsys.readouterr().err


def test_an_engine_thinks_on_the_opponents_time(play, tmp_path, monkeypatch):
    monkeypatch.setenv("LITESHOGI_DIARY", str(tmp_path / "diary"))
    with CsaServer() as server:
        first, _ = play(server, 1, first="ponder", ponder=True)
    lines = (tmp_path / "diary").read_text().splitlines()
    assert first.endings == {"SENNICHITE": 1}
    assert sum(line.startswith("go ponder btime") for line in lines) >= 4
    assert lines.count("ponderhit") >= 4
    assert differences(tmp_path / "first", server.records) == []


@pytest.mark.parametrize("colour", [0, 1])
def test_a_lost_connection_is_restored(colour, play, tmp_path):
    with CsaServer(Rules(drops={1: (5, colour)})) as server:
        first, second = play(server, 2)
    reports = [first, second]
    assert [report.games for report in reports] == [2, 2]
    lost, other = reports[colour], reports[1 - colour]
    assert (lost.unfinished, lost.lost_connections, other.wins, other.lost_connections) == (1, 1, 1, 0)
    name = lost.name
    (line,) = read_lines(tmp_path / name, LostConnection)
    assert line.game == 1
    game = kif_of(tmp_path / name, 1)
    assert (len(game.moves), game.ending) == (5, "中断")
    assert differences(tmp_path / name, server.records) == []


def test_a_full_disk_ends_the_run_and_the_game_counts(play, tmp_path, monkeypatch, capsys):
    import experiments.csa.play as clients

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(clients, "write_atomically", full)
    with CsaServer() as server, pytest.raises(OSError, match=r"No space left on device: .*0001\.kifu"):
        play(server, 2)
    (line,) = games_of(tmp_path / "first")
    assert (line.result, line.ending, line.kif) == ("draw", "SENNICHITE", "")
    assert read_run(tmp_path / "first").totals["games"] == 1
    assert "connecting again" not in capsys.readouterr().err


def test_the_same_command_plays_the_remaining_games(play, tmp_path):
    with CsaServer() as server:
        play(server, 1)
        first, _ = play(server, 3)
        assert first.games == 3
        assert [game.number for game in games_of(tmp_path / "first")] == [1, 2, 3]
        again, _ = play(server, 3)
    assert (again, len(server.records)) == (first, 3)


def test_every_game_has_its_own_login(play, tmp_path):
    with CsaServer() as server:
        first, _ = play(server, 3)
    assert (first.games, len(server.logins), first.lost_connections) == (3, 6, 0)
    assert (tmp_path / "first" / "dialogue" / "0003.log").read_text().count("> LOGIN") == 1


def test_a_game_at_the_move_limit_is_drawn(play, tmp_path):
    with CsaServer(Rules(max_moves=6)) as server:
        first, _ = play(server, 1)
    assert (first.draws, first.endings) == (1, {"MAX_MOVES": 1})
    assert differences(tmp_path / "first", server.records) == []


def test_a_slow_engine_loses_on_time(play, tmp_path, monkeypatch):
    import tests.experiments.csa.conftest as clients

    monkeypatch.setattr(clients, "GAME", "test-0-1F")
    with CsaServer() as server:
        first, _ = play(server, 1, first="sleep")
    assert (first.losses, first.losses_on_time, first.endings) == (1, 1, {"TIME_UP": 1})
    assert server.records[0].ending == "time up"


def test_the_record_of_a_run_names_the_player(play, tmp_path):
    with CsaServer() as server:
        play(server, 1)
    record = read_run(tmp_path / "first")
    assert record.options == {"host": "127.0.0.1", "port": server.port, "name": "first"}
    assert record.totals["draws"] == 1
    assert "scripted" in json.dumps(record.goal["player"])
