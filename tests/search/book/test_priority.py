"""Numbered books, and the file that a BookFile refers to."""

from __future__ import annotations

import pytest

from search.book.choice import BookRules, look_up
from search.book.convert import write_binary
from search.book.priority import book_paths, open_book, open_books
from search.rules.sfen import position_from_sfen
from search.rules.shogi import START_SFEN

AFTER = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"


def write(path, sfen, move) -> None:
    path.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {sfen}\n{move} none 0 0 1\n")


def names(path, said=None) -> list[str]:
    return [one.name for one in book_paths(path, (said or []).append)]


def test_numbered_books_come_first_up_to_the_first_gap(tmp_path):
    base = tmp_path / "user_book1.db"
    for number in ("-000.db", "-001.ybb", "-003.db", ".db"):
        (tmp_path / f"user_book1{number}").touch()
    assert names(base) == ["user_book1-000.db", "user_book1-001.ybb", "user_book1.db"]
    assert names(tmp_path / "other.db") == ["other.db"]
    assert names(tmp_path / "book.bin") == ["book.bin"]


def test_extensions_may_have_capital_letters(tmp_path):
    for name in ("a-000.DB", "a-001.ybb", "a.DB", "b.ybb"):
        (tmp_path / name).touch()
    assert names(tmp_path / "a.DB") == ["a-000.DB", "a-001.ybb", "a.DB"]
    assert names(tmp_path / "b.DB") == ["b.ybb"]


def test_of_two_files_with_one_number_the_extension_of_the_book_file_wins(tmp_path):
    for name in ("a-000.db", "a-000.ybb", "a.db", "a.ybb"):
        (tmp_path / name).touch()
    for extension in (".db", ".ybb"):
        said: list[str] = []
        paths = [one.name for one in book_paths(tmp_path / f"a{extension}", said.append)]
        assert paths == [f"a-000{extension}", f"a{extension}"]
        assert len(said) == 1


def test_a_missing_text_book_is_replaced_by_the_binary_one(tmp_path):
    write(tmp_path / "a.db", START_SFEN, "7g7f")
    write_binary(tmp_path / "a.db", tmp_path / "a.ybb")
    assert names(tmp_path / "a.db") == ["a.db"]
    (tmp_path / "a.db").unlink()
    assert names(tmp_path / "a.db") == ["a.ybb"]
    (book,) = open_books(tmp_path / "a.db", print)
    assert [move.move for move in book.find(START_SFEN)] == ["7g7f"]


def test_the_first_book_with_the_position_answers(tmp_path):
    write(tmp_path / "a.db", START_SFEN, "2g2f")
    write(tmp_path / "a-000.db", START_SFEN, "7g7f")
    write(tmp_path / "a-001.db", AFTER, "3c3d")
    books = open_books(tmp_path / "a.db", print)
    for sfen, move in ((START_SFEN, "7g7f"), (AFTER, "3c3d")):
        found = look_up(books, position_from_sfen(sfen), BookRules(), print)
        assert [one.move for one in found] == [move]


def test_an_unreadable_book_does_not_affect_others(tmp_path):
    write(tmp_path / "a.db", START_SFEN, "2g2f")
    (tmp_path / "a-000.db").write_text("no book\n")
    (tmp_path / "a-001.ybb").write_bytes(b"YANE-BINBOOK-V1\0\xff")
    said: list[str] = []
    books = open_books(tmp_path / "a.db", said.append)
    assert [book.path.name for book in books] == ["a.db"]
    assert len(said) == 2
    assert "a-000.db" in said[0]
    assert "a-001.ybb" in said[1]
    (tmp_path / "a.db").unlink()
    assert look_up(books, position_from_sfen(START_SFEN), BookRules(), said.append) == []
    assert "a.db" in said[2]


def test_missing_files_and_directories_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such book"):
        open_book(tmp_path / "nowhere.db", print)
    with pytest.raises(FileNotFoundError, match="not a file"):
        open_book(tmp_path, print)
