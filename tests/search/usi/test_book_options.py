"""Book options in a session: both versions, the profile file, and moves that precede the book."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from search.book.choice import BookRules
from search.rules.shogi import START_SFEN
from search.usi.book_options import OPTIONS, BookProfile, book_rules, read_profile
from search.usi.thinking import Thinking
from search.usi.usi_options import OptionValues
from tests.usi_session import InProcess

DECLARABLE = "1+P+B+R1K3/+P+P+P+P+PPPP1/9/9/9/9/9/9/4k4 b RB4G4S4N4L9p 1"


def set_book(session: InProcess, path: Path, *lines: str) -> None:
    path.write_text("#YANEURAOU-DB2016 1.00\n" + "\n".join(lines) + "\n")
    session.send(f"setoption name BookDir value {path.parent}", f"setoption name BookFile value {path.name}")


@pytest.mark.parametrize(
    ("sfen", "move", "answer"),
    [
        (DECLARABLE, "G*5h", "win"),
        ("4k4/9/9/9/9/9/9/9/4K4 b - 1", "5i5h", "5i5h"),
        ("+P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG 200", "G*5h", "win"),
    ],
)
def test_a_declaration_comes_before_the_book(session, tmp_path, sfen, move, answer):
    session.send("setoption name BookMoves value 10000", "setoption name BookEvalBlackLimit value -99999")
    set_book(session, tmp_path / "a.db", f"sfen {sfen}", f"{move} none 500 20 10")
    session.send(f"position sfen {sfen}", "go byoyomi 500")
    assert session.bestmove() == answer
    session.send("setoption name EnteringKingRule value NoEnteringKing", f"position sfen {sfen}", "go byoyomi 500")
    assert session.bestmove() == move


def test_a_try_comes_before_the_book(session, tmp_path):
    sfen = "9/3K5/9/9/9/9/9/9/k8 b R 1"
    set_book(session, tmp_path / "a.db", f"sfen {sfen}", "R*1i none 500 20 10")
    session.send("setoption name EnteringKingRule value TryRule", f"position sfen {sfen}", "go byoyomi 500")
    assert session.bestmove() == "6b5a"


def test_a_repetition_and_the_limit_of_moves_leave_the_book_in_use(session, tmp_path):
    set_book(session, tmp_path / "a.db", f"sfen {START_SFEN[:-2]}", "9g9f none 5 20 3")
    repeated = "position startpos moves" + 3 * " 2h3h 8b7b 3h2h 7b8b"
    session.send("setoption name BookMoves value 10000", repeated, "go byoyomi 500")
    assert session.bestmove() == "9g9f"
    session.send("setoption name MaxMovesToDraw value 1", "position startpos", "go byoyomi 500")
    assert session.bestmove() == "9g9f"


def test_without_a_legal_move_the_book_is_not_used(session, tmp_path):
    sfen = "8k/8G/8G/9/9/9/9/9/K8 w - 1"
    set_book(session, tmp_path / "a.db", f"sfen {sfen}", "1a2a none 500 20 10")
    lines = session.send(f"position sfen {sfen}", "go byoyomi 500").until("bestmove")
    assert lines[-1] == "bestmove resign"
    assert not any("not legal" in line for line in lines)


def test_a_missing_book_is_opened_again_at_isready(session, tmp_path):
    book = tmp_path / "a.db"
    set_book(session, book, f"sfen {START_SFEN}", "9g9f none 500 20 10")
    assert session.send("position startpos", "go byoyomi 100").bestmove() == "9g9f"
    book.unlink()
    lines = session.send("position startpos", "go byoyomi 100").until("bestmove")
    assert [line for line in lines if "BookFile" in line] == [
        f"info string BookFile: {book}: no such file or directory; continuing without this book"
    ]
    for _ in range(2):
        assert f"{book}: no such book" in "\n".join(session.send("isready").until("readyok"))
    book.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n9g9f none 500 20 10\n")
    assert not any("BookFile" in line for line in session.send("isready").until("readyok"))
    assert session.send("position startpos", "go byoyomi 100").bestmove() == "9g9f"


def test_version_2_has_limits_for_each_side():
    names = {version: {option.name for option in options} for version, options in OPTIONS.items()}
    assert names[2] - names[1] == {
        "BookEvalBlackDiff",
        "BookEvalWhiteDiff",
        "BookDepthBlackLimit",
        "BookDepthWhiteLimit",
    }
    assert names[1] - names[2] == {"BookEvalDiff", "BookDepthLimit", "NarrowBook", "ConsiderBookMoveCount"}
    values = OptionValues(OPTIONS[2])
    assert book_rules(values) == BookRules(
        moves=200, value_differences=(0, 0), depth_limits=(0, 5), by_count=False, ignore_ply=True
    )
    for name, number in (("BookEvalBlackDiff", 7), ("BookEvalWhiteDiff", 8), ("BookDepthBlackLimit", 9)):
        values.set(name, str(number))
    assert (book_rules(values).value_differences, book_rules(values).depth_limits) == ((7, 8), (9, 5))
    assert book_rules(OptionValues(OPTIONS[1])) == BookRules()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("BOOK_OPTIONS=V2\n", 2),
        ("# a comment\r\n\r\n  book_options = 2\r\n", 2),
        ("\ufeffBOOK_OPTIONS_V2", 2),
        ("// BOOK_OPTIONS=V2\n#BOOK_OPTIONS=V2\n", 1),
        ("BOOK_OPTIONS=V2\nBOOK_OPTIONS V1\n", 1),
        ("OTHER=V2\n", 1),
        ("", 1),
    ],
)
def test_profiles_give_the_version_of_the_book_options(tmp_path, text, version):
    path = tmp_path / "engine_option_profile.txt"
    path.write_bytes(text.encode())
    assert read_profile(path) == BookProfile(version)


@pytest.mark.parametrize("text", ["BOOK_OPTIONS = V2\r\n", "ＢＯＯＫ＿ＯＰＴＩＯＮＳ　＝　Ｖ２\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_profiles_of_other_editors_are_read(tmp_path, text, encoding):
    path = tmp_path / "engine_option_profile.txt"
    path.write_bytes(text.encode(encoding))
    assert read_profile(path) == BookProfile(2)


def test_unreadable_profiles_have_the_defaults(tmp_path, monkeypatch):
    path = tmp_path / "engine_option_profile.txt"
    assert read_profile(path) == BookProfile()
    path.mkdir()
    assert read_profile(path) == BookProfile()
    path.rmdir()
    path.write_bytes(os.urandom(200_000))
    assert read_profile(path).version == 1
    path.write_text("BOOK_OPTIONS=V3\n")
    monkeypatch.chdir(tmp_path)
    lines = InProcess().send("usi").until("usiok")
    assert any("option name BookEvalDiff " in line for line in lines)
    session = InProcess().send("usi")
    session.until("usiok")
    assert "V3" in session.words()


def test_a_session_uses_the_profile(tmp_path, monkeypatch):
    (tmp_path / "engine_option_profile.txt").write_text("BOOK_OPTIONS = V2\n")
    (tmp_path / "book").mkdir()
    book = tmp_path / "book" / "user_book1-000.db"
    monkeypatch.chdir(tmp_path)
    session = InProcess().send("usi")
    lines = session.until("usiok")
    assert "option name BookDepthWhiteLimit type spin default 5 min 0 max 99999" in lines
    assert not any("BookEvalDiff" in line for line in lines)
    session.send("setoption name USI_Hash value 2", "isready")
    assert not any("BookFile" in line for line in session.until("readyok"))  # the default book need not exist
    book.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n9g9f none 40 9 1\n1g1f none 39 9 900\n")
    session.send("setoption name BookFile value user_book1.db", "isready").until("readyok")
    for _ in range(8):
        assert session.send("position startpos", "go byoyomi 500").bestmove() == "9g9f"
    session.usi.close()


@pytest.mark.parametrize(
    "option", ["BookFile value no_book", "BookDir value elsewhere", "USI_OwnBook value false", "BookMoves value 0"]
)
def test_an_option_set_during_a_search_applies_to_the_next(session, tmp_path, monkeypatch, option):
    (tmp_path / "book.db").write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n9g9f none 0 20 1\n")
    options_set, look = threading.Event(), Thinking._book_move

    def look_late(thinking, engine):
        assert options_set.wait(60)
        return look(thinking, engine)

    monkeypatch.setattr(Thinking, "_book_move", look_late)
    session.send(f"setoption name BookDir value {tmp_path}", "setoption name BookFile value book.db")
    session.send("position startpos", "go depth 2", f"setoption name {option}")
    options_set.set()
    assert session.bestmove() == "9g9f"
    assert session.send("go depth 2").bestmove() != "9g9f"
