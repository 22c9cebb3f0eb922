"""Text books written as binary ones: the same positions, moves, values and depths."""

from __future__ import annotations

import pytest

from search.book.binary_book import BinaryBook
from search.book.convert import write_binary
from search.book.text_book import TextBook
from search.rules.shogi import START_SFEN
from search.system.options import OptionError
from tests.search.book.test_text_book import random_entries, written
from tests.search.system.test_files import few_bytes

HEADER = "#YANEURAOU-DB2016 1.00\n"


def test_every_position_keeps_its_moves(tmp_path):
    entries = random_entries(20, 3)
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(written(entries, sorted(entries)))
    seen: list[int] = []
    made = write_binary(source, target, progress=seen.append)
    assert made.positions + made.duplicates == len(entries)
    assert made.ignored == 0
    assert seen == sorted(seen)
    assert seen[-1] <= source.stat().st_size
    book = BinaryBook(target, print)
    lowest = {sfen.rsplit(" ", 1)[0]: sfen for sfen in sorted(entries, key=lambda one: -int(one.split()[3]))}
    moves = 0
    for sfen in lowest.values():
        found = [(one.move, one.value, one.depth) for one in book.find(sfen, ignore_ply=False)]
        lines = [line.split() for line in entries[sfen]]
        assert found == [(words[0], int(words[2]), int(words[3])) for words in lines]
        moves += len(found)
    assert (made.positions, made.moves) == (len(lowest), moves)


def test_unreadable_lines_are_counted_and_numbers_are_limited(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(
        f"{HEADER}sfen {START_SFEN}\n7g7f none 99999 70000 1\n2g2f none -99999 -1 1\n5g5f none x\n7g7f none 5\n"
        "sfen rubbish b - 1\n7g7f\nsfen kkkkkkkkk/9/9/9/9/9/9/9/9 b - 1\n1a1b\n"
    )
    made = write_binary(source, target)
    assert (made.positions, made.ignored) == (1, 3)
    assert "line 5" in made.first_ignored
    moves = BinaryBook(target, print).find(START_SFEN)
    assert [(one.move, one.value, one.depth) for one in moves] == [("7g7f", 5, 0), ("2g2f", -32000, 0)]


def test_lines_before_the_first_position_are_counted_as_the_engine_reports_them(tmp_path):
    source, target, said = tmp_path / "book.db", tmp_path / "book.ybb", list[str]()
    source.write_text(f"{HEADER}startpos\n7g7f none 1\nsfen {START_SFEN}\n2g2f none 5\n")
    made = write_binary(source, target)
    TextBook(source, said.append)
    assert (made.positions, made.moves, made.ignored) == (1, 1, 2)
    assert made.first_ignored == "line 2: a move before the first position"
    assert f"{made.first_ignored}; 2 such lines ignored" in said[0]


def test_positions_of_full_width_are_converted(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(f"{HEADER}ｓｆｅｎ {START_SFEN[:-1]}１\n2g2f none −5\n", encoding="utf-8")
    assert write_binary(source, target).ignored == 0
    assert [(one.move, one.value) for one in BinaryBook(target, print).find(START_SFEN)] == [("2g2f", -5)]


def test_a_binary_book_is_not_converted(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(f"{HEADER}sfen {START_SFEN}\n2g2f none 5\n")
    write_binary(source, target)
    with pytest.raises(ValueError, match=r"book\.ybb: a binary book already"):
        write_binary(target, tmp_path / "other.ybb")


@pytest.mark.parametrize("name", ["book.db", "folder/../book.db", "link.ybb"])
def test_a_book_is_not_written_onto_itself(tmp_path, name):
    source = tmp_path / "book.db"
    source.write_text(f"{HEADER}sfen {START_SFEN}\n2g2f none 5\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.ybb").symlink_to(source)
    before = source.read_bytes()
    with pytest.raises(ValueError, match="is also an input; choose another file"):
        write_binary(source, tmp_path / name, overwrite=True)
    assert source.read_bytes() == before


def test_an_existing_book_is_replaced_only_on_request(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(f"{HEADER}sfen {START_SFEN}\n2g2f none 5\n")
    target.write_text("mine")
    with pytest.raises(OptionError, match=r"book\.ybb: already exists; set `overwrite`"):
        write_binary(source, target)
    assert target.read_text() == "mine"
    write_binary(source, target, overwrite=True)
    assert BinaryBook(target, print).find(START_SFEN)


@pytest.mark.parametrize("content", ["no book\n", HEADER, HEADER + "sfen rubbish b - 1\n"])
def test_a_book_without_a_position_writes_nothing(tmp_path, content):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    source.write_text(content)
    with pytest.raises(ValueError, match=r"book\.db"):
        write_binary(source, target)
    assert [path.name for path in tmp_path.iterdir()] == ["book.db"]


def test_a_full_disk_is_reported_with_the_name_of_the_book(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    entries = random_entries(5, 7)
    source.write_text(written(entries, sorted(entries)))
    with few_bytes(), pytest.raises(OSError, match="File too large") as raised:
        write_binary(source, target)
    assert raised.value.filename == str(target)
    assert [path.name for path in tmp_path.iterdir()] == ["book.db"]


def test_a_position_without_a_move_number_is_found_at_every_number(tmp_path):
    source, target = tmp_path / "book.db", tmp_path / "book.ybb"
    stem = START_SFEN.rsplit(" ", 1)[0]
    source.write_text(f"{HEADER}sfen {stem}\n2g2f none 5\n")
    write_binary(source, target)
    for book in (TextBook(source, print), BinaryBook(target, print)):
        assert [one.move for one in book.find(f"{stem} 7", ignore_ply=False)] == ["2g2f"]
