"""Lines of the server: game summaries, moves and invalid lines."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.csa.clock import GameClock, TimeControl
from experiments.csa.connection import LONGEST_LINE, Connection
from experiments.csa.events import ConnectionLost, ServerError
from experiments.csa.game_summary import read_summary, read_timed_move
from experiments.csa.password import VARIABLE, find_password
from experiments.csa.play import play_on_server
from experiments.csa.server_play import ServerPlay
from experiments.csa.server_results import LostConnection, ServerGameLine
from lite.records.formats import BLACK_WINS, WINNER_MASK
from lite.run_folder import read_lines
from search.rules.shogi import START_SFEN
from search.system.options import OptionError
from tests.experiments.csa.conftest import kif_of
from tests.experiments.csa.csa_server import CsaServer, Rules

SUMMARY = """Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:wdoor+floodgate-300-10F+a+b+20261128130000
Name+:a
Name-:b
Your_Turn:-
Rematch_On_Draw:NO
To_Move:+
Max_Moves:256
BEGIN Time
Time_Unit:1sec
Total_Time:300
Byoyomi:0
Increment:10
Least_Time_Per_Move:0
END Time
BEGIN Position
PI
+
+7776FU,T12
-3334FU,T6
END Position"""


def changed(old: str, new: str) -> list[str]:
    assert old in SUMMARY
    return SUMMARY.replace(old, new).split("\n")


def test_a_summary_is_read():
    found = read_summary(SUMMARY.split("\n"))
    assert found.names == ("a", "b")
    assert (found.colour, found.start_sfen, found.max_moves) == (1, START_SFEN, 256)
    assert found.moves == (("+7776FU", 12_000), ("-3334FU", 6000))
    assert found.controls == (TimeControl(300_000, 0, 10_000),) * 2


@pytest.mark.parametrize(
    ("block", "black", "white"),
    [
        ("BEGIN Time\nTime_Unit:1min\nTotal_Time:15\nByoyomi:1\nEND Time", (900_000, 60_000, 0), None),
        ("BEGIN Time\nTime_Unit:100msec\nTotal_Time:10\nDelay:20\nEND Time", (1000, 0, 0, 2000), None),
        (
            "BEGIN Time+\nTotal_Time:10\nEND Time+\nBEGIN Time-\nTotal_Time:20\nByoyomi:5\nEND Time-",
            (10_000, 0, 0),
            (20_000, 5000, 0),
        ),
        ("BEGIN Time\nByoyomi:0\nEND Time", (None, 0, 0), None),
    ],
)
def test_clocks_are_read_in_every_unit(block, black, white):
    begin, end = SUMMARY.index("BEGIN Time"), SUMMARY.index("\nBEGIN Position")
    found = read_summary((SUMMARY[:begin] + block + SUMMARY[end:]).split("\n"))
    assert found.controls == (TimeControl(*black), TimeControl(*(white or black)))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Your_Turn:-", "Your_Turn:x", "Your_Turn:x"),
        ("Your_Turn:-\n", "", "Your_Turn:"),
        ("Total_Time:300", "Total_Time:-5", "Total_Time:-5"),
        ("Total_Time:300", "Total_Time:" + "9" * 40, "Total_Time:999"),
        ("Increment:10", "Increment:1e3", "Increment:1e3"),
        ("Max_Moves:256", "Max_Moves:many", "Max_Moves:many"),
        ("Time_Unit:1sec", "Time_Unit:0sec", "Time_Unit:0sec"),
        ("Time_Unit:1sec", "Time_Unit:1week", "Time_Unit:1week"),
        ("+7776FU,T12", "+7775FU,T12", "+7775FU"),
        ("+7776FU,T12", "-7776FU,T12", "-7776FU"),
        ("-3334FU,T6", "-3334FU,Tx", "-3334FU,Tx"),
        ("PI\n+", "PI82XX\n+", "XX on 82"),
        ("PI\n+\n+7776FU,T12\n-3334FU,T6\n", "PI\n", "side to move"),
        ("END Time", "END Position", "END Position"),
        ("BEGIN Position", "BEGIN Position\nBEGIN Time", "BEGIN Time"),
        ("To_Move:+", "hello", "hello"),
    ],
)
def test_an_invalid_summary_is_refused_with_its_line(old, new, named):
    with pytest.raises(ServerError) as refused:
        read_summary(changed(old, new))
    assert named in str(refused.value)


@given(st.lists(st.sampled_from(SUMMARY.split("\n")), max_size=40) | st.lists(st.text(max_size=40), max_size=20))
def test_any_lines_are_a_summary_or_an_error(lines):
    with contextlib.suppress(ServerError):
        read_summary(lines)


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("+7776FU,T12", ("+7776FU", 12_000)),
        ("-0055KA,T0.25", ("-0055KA", 250)),
        ("+7776FU", ("+7776FU", 0)),
        ("+7776FU,T12,'* 30 -3334FU", ("+7776FU", 12_000)),
    ],
)
def test_a_move_is_read_with_its_time(line, move):
    assert read_timed_move(line) == move


@pytest.mark.parametrize("line", ["+7776FU,T", "+7776FU,T-1", "+7776FU,T999999999", "+77FU,T1", "+7776fu,T1", "+"])
def test_an_invalid_move_is_an_error(line):
    with pytest.raises(ServerError):
        read_timed_move(line)


def test_an_engine_gets_its_time_without_the_next_increment():
    clock = GameClock((TimeControl(300_000, 0, 10_000),) * 2)
    assert clock.limits(0, 0) == "btime 300000 wtime 300000 binc 10000 winc 10000"
    clock.spend(0, 25_000)
    assert clock.left == [285_000, 300_000]
    assert clock.limits(0, 1000) == "btime 284000 wtime 300000 binc 10000 winc 10000"
    clock.spend(0, 295_000)
    assert clock.limits(0, 1000) == "btime 0 wtime 300000 binc 9000 winc 10000"


def test_an_unused_delay_is_lost():
    clock = GameClock((TimeControl(60_000, delay=10_000),) * 2)
    clock.spend(0, 2000)
    assert clock.left == [60_000, 60_000]
    clock.spend(0, 15_000)
    assert clock.limits(0, 1000) == "btime 54000 wtime 60000 binc 10000 winc 10000"
    assert TimeControl(60_000, delay=10_000).text == "60+10D"


def test_unused_byoyomi_is_lost():
    clock = GameClock((TimeControl(5000, 2000), TimeControl(5000, 3000)))
    clock.spend(1, 7000)
    assert clock.limits(1, 500) == "btime 5000 wtime 0 byoyomi 2500"
    assert clock.limits(1, 60_000) == "btime 5000 wtime 0 byoyomi 1500"  # at most half
    assert GameClock((TimeControl(),) * 2).limits(0, 1000) == "byoyomi 10000"


@contextmanager
def server_that_says(content: bytes, after: float = 0.0) -> Iterator[int]:
    """Run a server that reads one line, writes these bytes and waits."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(100)
            connection.sendall(content)
            time.sleep(after)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    thread.join()
    listener.close()


@pytest.mark.parametrize("content", [b"x" * (LONGEST_LINE + 10), b"x" * (LONGEST_LINE + 10) + b"\n"])
def test_an_endless_line_ends_the_connection(content):
    with server_that_says(content, 0.5) as port, Connection("127.0.0.1", port, 60, lambda *_: None) as connection:
        connection.send("LOGIN a b")
        with pytest.raises(ConnectionLost, match="bytes"):
            connection.line(10, "answer")


def test_lines_with_any_bytes_are_read():
    entries = []

    def diary(mark: str, line: str) -> None:
        entries.append((mark, line))

    content = b"\n\xff\x1b[2Jok\r\n\nlast\n"
    with server_that_says(content) as port, Connection("127.0.0.1", port, 60, diary) as connection:
        connection.send("LOGIN a b", "LOGIN a *")
        assert connection.line(10, "line") == "??[2Jok"
        assert connection.line(10, "line") == "last"
        with pytest.raises(ConnectionLost):
            connection.line(10, "line")
    assert entries == [(">", "LOGIN a *"), ("<", "??[2Jok"), ("<", "last")]


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_a_name_is_read_in_either_encoding(encoding):
    content = "Name+:髙山\n".encode(encoding)
    with server_that_says(content) as port, Connection("127.0.0.1", port, 60, lambda *_: None) as connection:
        connection.send("LOGIN a b")
        assert connection.line(10, "line") == "Name+:髙山"


def test_a_server_that_stops_answering_counts_as_lost():
    with (
        server_that_says(b"\n", 3.0) as port,
        Connection("127.0.0.1", port, 0.2, lambda *_: None) as connection,
        pytest.raises(ConnectionLost, match="no line for"),
    ):
        connection.line(10, "line")


def test_a_server_that_was_not_asked_for_long_is_not_lost():
    with CsaServer() as server, Connection("127.0.0.1", server.port, 0.2, lambda *_: None) as connection:
        for _ in range(8):
            connection.wait()
        time.sleep(1.0)  # as while an engine gets ready
        for _ in range(8):
            assert connection.wait() is None


def client(server: CsaServer, tmp_path, scripted, **others) -> ServerPlay:
    given = {"name": "a", "port": server.port, "game": "test-10-2F", "games": 1, "attempts": 2}
    options = given | {"engine": scripted.command(), "output": tmp_path / "a"} | others
    return ServerPlay(host="127.0.0.1", **options)


def test_a_refused_login_ends_the_run(tmp_path, scripted):
    with CsaServer(Rules({"a": "right"})) as server:
        with pytest.raises(ValueError, match=r"127\.0\.0\.1:\d+: name a and password are not accepted"):
            play_on_server(client(server, tmp_path, scripted), "wrong")
        assert len(server.logins) == 1


def test_a_server_of_another_protocol_is_reported_with_its_line(tmp_path, scripted):
    server = CsaServer(Rules(replace=lambda line: "SSH-2.0-OpenSSH_9.2"))
    with server, pytest.raises(ValueError, match=r"127\.0\.0\.1:\d+: line 'SSH-2.0-OpenSSH_9.2'"):
        play_on_server(client(server, tmp_path, scripted), "p")


def test_a_temporary_failure_of_the_name_service_is_tried_again(tmp_path, scripted, monkeypatch):
    def unavailable(*_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "create_connection", unavailable)
    with CsaServer() as server, pytest.raises(ValueError, match="ended after 2 failed connections"):
        play_on_server(client(server, tmp_path, scripted), "p")


def test_an_unknown_host_is_an_error_of_the_option(tmp_path, scripted, monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", unknown)
    with CsaServer() as server, pytest.raises(OptionError) as refused:
        play_on_server(client(server, tmp_path, scripted), "p")
    assert refused.value.fields == ("host",)


def test_a_host_that_cannot_be_a_name_is_an_error_of_the_option(tmp_path, scripted):
    with CsaServer() as server, pytest.raises(OptionError, match=r"`host` a\.\.b: there is no such host") as refused:
        play_on_server(replace(client(server, tmp_path, scripted), host="a..b"), "p")
    assert refused.value.fields == ("host",)


def test_a_server_that_is_down_is_connected_to_again(tmp_path, scripted, capsys):
    with CsaServer() as server:
        options = client(server, tmp_path, scripted)
    with pytest.raises(ValueError, match=r"refused; ended after 2 failed connections in a row"):
        play_on_server(options, "p")
    assert "connecting again in 1 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new"),
    [("Total_Time:10", "Total_Time:ten"), ("START:", "START:other"), ("BEGIN Position", "BEGIN Nothing")],
)
def test_a_server_without_playable_games_ends_the_run(old, new, play):
    server = CsaServer(Rules(replace=lambda line: line.replace(old, new)))
    with server, pytest.raises(ValueError, match="failed connections in a row") as refused:
        play(server, 1)
    assert new in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+5958OU,T0", "+5957OU,T0"),
        ("-5152OU,T0", "-5153OU,T0"),
        ("-5152OU,T0", "+2726FU,T0"),
        ("-5152OU,T0", "-5152OU,Tnever"),
    ],
)
def test_a_game_with_invalid_lines_of_the_server_is_left_and_kept(old, new, play, tmp_path, capsys):
    with CsaServer(Rules(replace=lambda line: line.replace(old, new))) as server:
        reports = play(server, 1)
    assert [(report.unfinished, report.lost_connections) for report in reports].count((1, 1)) >= 1
    assert f"warning: 127.0.0.1:{server.port}: line '{new}'" in capsys.readouterr().err
    assert {"connection lost": 1} in [report.endings for report in reports]
    moves = int(old[0] == "-")
    assert all((tmp_path / name / "kif" / "0001.kifu").exists() == bool(moves) for name in ("first", "second"))


def test_an_illegal_move_of_the_opponent_ends_the_game_with_the_result_after_it(play, tmp_path):
    old, new = "-5152OU,T0", "-5153OU,T0\n#ILLEGAL_MOVE\n#WIN"
    with CsaServer(Rules(replace=lambda line: line.replace(old, new))) as server:
        reports = play(server, 1)
    (won,) = [report for report in reports if report.wins]
    assert (won.endings, won.lost_connections) == ({"ILLEGAL_MOVE": 1}, 0)
    game = kif_of(won.folder, 1)
    assert (len(game.moves), game.result & WINNER_MASK, game.ending) == (1, BLACK_WINS, "反則負け")


@pytest.mark.parametrize(
    ("reason", "result", "ending"),
    [
        ("#JISHOGI", "#DRAW", ("JISHOGI", "draw")),
        ("#JISHOGI", "#WIN", ("KACHI", "win")),
        ("#ABNORMAL", "#WIN", ("ABNORMAL", "win")),
        ("#CHUDAN", "#CHUDAN", ("CHUDAN", "unfinished")),
    ],
)
def test_the_end_of_a_game_has_its_own_word(reason, result, ending, play, tmp_path):
    def replaced(line: str) -> str:
        return {"#RESIGN": reason, "#WIN": result, "#LOSE": result}.get(line, line)

    with CsaServer(Rules(replace=replaced)) as server:
        play(server, 1, second="resign")
    for name in ("first", "second"):
        (line,) = read_lines(tmp_path / name, ServerGameLine)
        assert (line.ending, line.result) == ending
        assert not list(read_lines(tmp_path / name, LostConnection))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "a b"),
        ("name", ""),
        ("port", 0),
        ("port", 70_000),
        ("keep_alive", 10),
        ("games", -1),
        ("margin", -1),
        ("host", ""),
        ("game", "floodgate 300"),
        ("game", "a,b"),
    ],
)
def test_errors_name_invalid_options(field, value, tmp_path):
    given = {"name": "a", "output": tmp_path / "run"} | {field: value}
    with pytest.raises(OptionError) as refused:
        ServerPlay(**given).check()
    assert refused.value.fields == (field,)


def test_the_password_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text("secret-9\nmore\n")
    monkeypatch.setenv(VARIABLE, "other")
    assert find_password(file) == "secret-9"
    assert find_password(None) == "other"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(OptionError):
        find_password(None)


@pytest.mark.parametrize("content", ["", "two words", "日本", "a\tb"])
def test_an_invalid_password_is_refused_without_showing_it(content, tmp_path):
    file = tmp_path / "password"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(OptionError) as refused:
        find_password(file)
    assert not content or content not in str(refused.value)
