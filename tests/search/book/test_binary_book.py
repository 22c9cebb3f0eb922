"""Binary books: positions and moves as cshogi packs them, found on disk; damaged ones are refused or reported."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

import cshogi
import numpy as np
import pytest

import search.book.binary_book
from search.book.binary_book import BinaryBook, code_of_move, move_from_code
from search.book.book_move import BookMove
from search.book.choice import BookRules, choose, flip_sfen
from search.rules.sfen import position_from_sfen
from search.rules.shogi import START_SFEN

MAGIC = b"YANE-BINBOOK-V1\0"
Entry = tuple[str, list[tuple[str, int, int]]]


def pack(board: cshogi.Board) -> bytes:
    """Return YaneuraOu's PackedSfen of a position, by cshogi."""
    packed = np.zeros(1, cshogi.PackedSfen)
    board.to_psfen(packed)
    return packed["sfen"].tobytes()


def write(path: Path, entries: list[Entry], flags: int = 1) -> None:
    """Write a binary book of (SFEN with move number, moves with value and depth), by cshogi's codes."""
    index, moves = [], b""
    for sfen, lines in entries:
        board = cshogi.Board(sfen)
        codes = b""
        for usi, value, depth in lines:
            code = cshogi.move16_to_psv(cshogi.move16(board.move_from_usi(usi)))
            codes += struct.pack("<HhH" if flags else "<Hh", code, value, *([depth] if flags else []))
        index.append((pack(board), len(moves), int(sfen.split()[3]), len(lines)))
        moves += codes
    records = b"".join(struct.pack("<32sQHH", *one) for one in sorted(index))
    path.write_bytes(struct.pack("<16sQQ", MAGIC, len(index), flags) + records + moves)


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """Return positions of random games with some of their moves."""
    generator, found = random.Random(7), dict[str, list[tuple[str, int, int]]]()
    for _ in range(20):
        board = cshogi.Board()
        for _ in range(60):
            legal = [cshogi.move_to_usi(move) for move in board.legal_moves]
            if not legal:
                break
            chosen = generator.sample(legal, min(len(legal), generator.randint(1, 6)))
            key = board.sfen().rsplit(" ", 1)[0]
            if not any(sfen.startswith(key + " ") for sfen in found):
                moves = [(move, generator.randint(-32000, 32000), generator.randint(0, 999)) for move in chosen]
                found[board.sfen()] = moves
            board.push_usi(generator.choice(legal))
    return list(found.items())


def quiet(path: Path) -> BinaryBook:
    """Open a book that needs no message."""

    def say(text: str) -> None:
        raise AssertionError(text)

    return BinaryBook(path, say)


@pytest.mark.parametrize("flags", [0, 1])
@pytest.mark.parametrize("whole", [True, False])
def test_every_position_is_found(tmp_path, monkeypatch, entries, flags, whole):
    if not whole:
        monkeypatch.setattr(search.book.binary_book, "CHECK_WHOLE", 0)
    path = tmp_path / "book.ybb"
    write(path, entries[::2], flags)
    book = quiet(path)
    for sfen, moves in entries[::2]:
        expected = [BookMove(usi, None, value, depth if flags else 0, 0) for usi, value, depth in moves]
        assert book.find(sfen) == expected
        assert book.find(sfen, ignore_ply=False) == expected
        assert book.find(sfen.rsplit(" ", 1)[0] + " 999", ignore_ply=False) == []
    for sfen, _ in entries[1::2]:
        assert book.find(sfen) == []
    assert book.find("4k4/9/9/9/9/9/9/9/9 b - 1") == []  # without a king there is no key


def test_only_what_is_needed_is_read(tmp_path, entries, monkeypatch):
    """A look-up in a large book reads an index record per halving, not the file."""
    path = tmp_path / "book.ybb"
    write(path, entries)
    monkeypatch.setattr(search.book.binary_book, "CHECK_WHOLE", 0)
    book, read = quiet(path), []
    monkeypatch.setattr(
        BinaryBook,
        "_read_index",
        lambda self, file, first, count, old=BinaryBook._read_index: (
            read.append(count),
            old(self, file, first, count),
        )[1],
    )
    assert book.find(entries[0][0])
    assert len(read) <= len(entries).bit_length()
    assert set(read) == {1}


def test_moves_have_yaneuraous_codes():
    board = cshogi.Board()
    generator = random.Random(3)
    for _ in range(300):
        legal = list(board.legal_moves)
        if not legal:
            board = cshogi.Board()
            continue
        for move in legal:
            usi, code = cshogi.move_to_usi(move), cshogi.move16_to_psv(cshogi.move16(move))
            assert (code_of_move(usi), move_from_code(code)) == (code, usi)
        board.push(generator.choice(legal))
    for special in (0, 129, 258, 387):  # none, null, resign, win
        assert move_from_code(special) == ""
    for code in (81, 127 << 7, 1 << 14, (1 << 14) | 8 << 7, (3 << 14) | 1 << 7):
        with pytest.raises(ValueError, match="not a move"):
            move_from_code(code)


def test_a_book_without_counts_is_played_by_value(tmp_path):
    path = tmp_path / "book.ybb"
    write(path, [(START_SFEN, [("5g5f", -20, 9), ("7g7f", 40, 9), ("2g2f", 30, 9)])])
    books, pos = [quiet(path)], position_from_sfen(START_SFEN)
    played = {choose(books, pos, BookRules(), print, random.Random(seed)).analysis.best_move for seed in range(60)}
    assert played == {"7g7f", "2g2f"}
    turned = position_from_sfen(flip_sfen(START_SFEN))
    assert choose(books, turned, BookRules(value_differences=(0, 0)), print).analysis.best_move == "3c3d"


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match=re.escape(str(path))) as raised:
        BinaryBook(path, print)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_headers_that_do_not_fit_the_file_are_refused(tmp_path, entries):
    path = tmp_path / "a book.ybb"
    write(path, entries)
    content = path.read_bytes()
    for cut in (0, 5, 16, 31, 32, 32 + 44 * len(entries) - 1):
        path.write_bytes(content[:cut])
        refusal(path)
    for count in (len(entries) * 1000, 1 << 40, (1 << 64) - 1):
        path.write_bytes(content[:16] + struct.pack("<Q", count) + content[24:])
        assert "cut short" in refusal(path)
    path.write_bytes(content[:24] + struct.pack("<Q", 6) + content[32:])
    assert "flags 0x6" in refusal(path)
    path.write_bytes(b"#YANEURAOU-DB2016 1.00\n" + bytes(100))
    refusal(path)


def test_a_book_without_a_position_is_reported(tmp_path):
    said: list[str] = []
    write(tmp_path / "book.ybb", [])
    BinaryBook(tmp_path / "book.ybb", said.append)
    assert said == [f"BookFile: {tmp_path}/book.ybb: contains no position"]


@pytest.mark.parametrize("whole", [True, False])
def test_an_unsorted_index_is_refused(tmp_path, monkeypatch, entries, whole):
    if not whole:
        monkeypatch.setattr(search.book.binary_book, "CHECK_WHOLE", 0)
    path = tmp_path / "book.ybb"
    write(path, entries)
    content = bytearray(path.read_bytes())
    records = [content[32 + 44 * n : 76 + 44 * n] for n in range(len(entries))]
    content[32 : 32 + 44 * len(entries)] = b"".join(records[::-1])
    path.write_bytes(content)
    assert "sorted" in refusal(path)


@pytest.mark.parametrize("whole", [True, False])
def test_a_position_may_have_several_records_with_different_move_numbers(tmp_path, monkeypatch, entries, whole):
    if not whole:
        monkeypatch.setattr(search.book.binary_book, "CHECK_WHOLE", 0)
    path, stem = tmp_path / "book.ybb", START_SFEN.rsplit(" ", 1)[0]
    others = [one for one in entries if not one[0].startswith(stem)]
    found = [(f"{stem} {ply}", [(move, 0, 1)]) for ply, move in ((1, "7g7f"), (5, "2g2f"), (11, "5g5f"))]
    write(path, [*found, *others])
    book = quiet(path)
    for sfen, moves in (*found, *others):
        assert [move.move for move in book.find(sfen, ignore_ply=False)] == [move for move, _, _ in moves]
    assert [move.move for move in book.find(f"{stem} 11")] == ["7g7f"]
    assert book.find(f"{stem} 7", ignore_ply=False) == []


def test_positions_whose_moves_lie_beyond_the_end_are_reported_and_left_out(tmp_path, entries):
    path, said = tmp_path / "book.ybb", []
    write(path, entries)
    content = path.read_bytes()
    path.write_bytes(content[: 32 + 44 * len(entries) + 60])
    book = BinaryBook(path, said.append)
    assert len(said) == 1
    assert "cut short" in said[0]
    found = [sfen for sfen, _ in entries if book.find(sfen)]
    assert 1 <= len(found) < 12
    # Offsets near 2^64 must not wrap around.
    record = struct.pack("<Q", (1 << 64) - 6)
    path.write_bytes(content[:64] + record + content[72:])
    book = BinaryBook(path, said.append)
    assert "1 of" in said[1]
    assert sum(not book.find(sfen) for sfen, _ in entries) == 1


def test_an_invalid_code_of_a_move_is_left_out_and_reported(tmp_path):
    path, said = tmp_path / "book.ybb", []
    write(path, [(START_SFEN, [("7g7f", 1, 1), ("2g2f", 2, 2)])])
    content = bytearray(path.read_bytes())
    content[-12:-10] = struct.pack("<H", 0xFFFF)
    path.write_bytes(content)
    assert [move.move for move in BinaryBook(path, said.append).find(START_SFEN)] == ["2g2f"]
    assert len(said) == 1
    assert "0xffff" in said[0]


def test_reading_a_changed_file_stops(tmp_path, entries):
    path = tmp_path / "book.ybb"
    write(path, entries)
    book = quiet(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="set BookFile again"):
        book.find(START_SFEN)


def test_damaged_bytes_anywhere_are_read_or_refused(tmp_path, entries):
    path, generator = tmp_path / "book.ybb", random.Random(5)
    write(path, entries[:40])
    content = path.read_bytes()
    for _ in range(300):
        data = bytearray(content[: generator.randrange(len(content) + 1)])
        for _ in range(generator.randrange(4)):
            if data:
                data[generator.randrange(len(data))] = generator.randrange(256)
        path.write_bytes(data)
        try:
            book = BinaryBook(path, lambda _: None)
            for sfen, _ in entries[:40]:
                book.find(sfen)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 (either outcome is good)
