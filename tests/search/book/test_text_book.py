"""Text books: positions are found as by rsshogi, unreadable lines are left out, moves are chosen by the options."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import cshogi
import numpy as np
import pytest
from rsshogi.book import YaneuraOuBook

import search.book.text_book
from search.book.book_move import BookMove
from search.book.choice import BookRules, choose, flip_move, flip_sfen
from search.book.text_book import TextBook
from search.rules.movegen import is_legal
from search.rules.sfen import get_sfen, move_from_usi, position_from_sfen
from search.rules.shogi import START_SFEN

HEADER = "#YANEURAOU-DB2016 1.00\n"
ALL = BookRules(moves=10_000, value_differences=(99_999, 99_999), value_limits=(-99_999, -99_999))


def open_text(path: Path) -> TextBook:
    """Open a text book and ignore its messages."""
    return TextBook(path, lambda _: None)


def random_entries(games: int, seed: int) -> dict[str, list[str]]:
    """Return positions of random games by cshogi (SFEN with move number) and lines of moves."""
    generator, entries = random.Random(seed), {}
    for _ in range(games):
        board = cshogi.Board()
        for _ in range(60):
            legal = [cshogi.move_to_usi(move) for move in board.legal_moves]
            if not legal:
                break
            chosen = generator.sample(legal, min(len(legal), generator.randint(1, 6)))
            entries[board.sfen()] = [
                f"{move} none {generator.randint(-300, 300)} {generator.randint(0, 40)} {generator.randint(0, 50)}"
                for move in chosen
            ]
            board.push_usi(generator.choice(legal))
    return entries


def written(entries: dict[str, list[str]], order: list[str], end: str = "\n") -> str:
    return (HEADER + "".join(f"sfen {sfen}\n" + "".join(f"{m}\n" for m in entries[sfen]) for sfen in order)).replace(
        "\n", end
    )


@pytest.fixture(scope="module")
def entries() -> dict[str, list[str]]:
    return random_entries(20, 1)


@pytest.fixture(scope="module")
def answers(entries, tmp_path_factory) -> dict[str, list[tuple[str, int, int, int]]]:
    """Return rsshogi's answers for each position of that book and for some that may not be in it."""
    path = tmp_path_factory.mktemp("books") / "book.db"
    path.write_text(written(entries, sorted(entries)))
    book = YaneuraOuBook.open(str(path))
    found = {sfen: book.lookup_sfen(sfen) for sfen in (*entries, *random_entries(5, 2))}
    return {
        sfen: [(str(move.mv), move.score, move.depth, move.count) for move in entry.moves] if entry else []
        for sfen, entry in found.items()
    }


@pytest.mark.parametrize("whole", [search.book.text_book.READ_WHOLE, 0])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_position_is_found_as_rsshogi_finds_it(tmp_path, monkeypatch, entries, answers, whole, end):
    """Both by reading and checking every line and by bisection, as in large books."""
    monkeypatch.setattr(search.book.text_book, "READ_WHOLE", whole)
    path = tmp_path / "book.db"
    path.write_bytes(written(entries, sorted(entries), end).encode())
    book = open_text(path)
    for sfen, expected in answers.items():
        found = [(move.move, move.value, move.depth, move.count) for move in book.find(sfen)]
        assert found == expected, sfen
    assert all(answers[sfen] for sfen in entries)
    assert not all(answers.values())
    for sfen in entries:
        other = " ".join([*sfen.split()[:3], "777"])
        assert book.find(other) == book.find(sfen)
        assert book.find(other, ignore_ply=False) == []
        assert book.find(sfen, ignore_ply=False) != []


def test_a_small_book_need_not_be_sorted(tmp_path, entries):
    order = sorted(entries)
    random.Random(3).shuffle(order)
    path = tmp_path / "book.db"
    path.write_text(written(entries, order))
    book = open_text(path)
    assert all(
        [move.move for move in book.find(sfen)] == [line.split()[0] for line in entries[sfen]] for sfen in entries
    )


def test_a_large_book_that_is_not_sorted_is_refused(tmp_path, monkeypatch, entries):
    monkeypatch.setattr(search.book.text_book, "READ_WHOLE", 0)
    path = tmp_path / "book.db"
    path.write_text(written(entries, sorted(entries, reverse=True)))
    with pytest.raises(ValueError, match=r"book\.db: .*must be sorted"):
        open_text(path)


def test_one_position_with_several_move_numbers(tmp_path, monkeypatch):
    for whole in (search.book.text_book.READ_WHOLE, 0):
        monkeypatch.setattr(search.book.text_book, "READ_WHOLE", whole)
        path, stem = tmp_path / "book.db", START_SFEN.rsplit(" ", 1)[0]
        path.write_text(f"{HEADER}sfen {stem} 1\n7g7f\nsfen {stem} 11\n2g2f 8c8d\nsfen {stem} 5\n5g5f\n")
        book = open_text(path)
        for number, move in ((1, "7g7f"), (5, "5g5f"), (11, "2g2f")):
            assert [found.move for found in book.find(f"{stem} {number}", ignore_ply=False)] == [move]
        assert book.find(f"{stem} 11")[0].move == "7g7f"


@pytest.mark.parametrize("whole", [search.book.text_book.READ_WHOLE, 0])
def test_a_byte_order_mark_hides_no_position(tmp_path, monkeypatch, entries, whole):
    monkeypatch.setattr(search.book.text_book, "READ_WHOLE", whole)
    path, order = tmp_path / "book.db", sorted(entries)
    path.write_text("\ufeff" + written(entries, order).removeprefix(HEADER), encoding="utf-8")
    book = open_text(path)
    assert all(book.find(sfen) for sfen in order)


@pytest.mark.parametrize("begin", ["\n\n", "# my book\n", " \n// my book\n#\n", "# without a header\n\n-"])
def test_comments_and_empty_lines_may_come_first(tmp_path, begin):
    path = tmp_path / "book.db"
    path.write_text(begin.removesuffix("-") + HEADER * (not begin.endswith("-")) + f"sfen {START_SFEN}\n7g7f\n")
    assert [move.move for move in TextBook(path, pytest.fail).find(START_SFEN)] == ["7g7f"]


@pytest.mark.parametrize("content", [HEADER, HEADER.strip()])
def test_a_book_without_a_position_is_reported(tmp_path, content):
    path, said = tmp_path / "book.db", []
    path.write_bytes(content.encode())
    assert TextBook(path, said.append).find(START_SFEN) == []
    assert said == [f"BookFile: {path}: contains no position"]


def test_the_line_ends_of_old_macs_are_named(tmp_path):
    path = tmp_path / "book.db"
    path.write_bytes(f"{HEADER}sfen {START_SFEN}\n7g7f\n".replace("\n", "\r").encode())
    with pytest.raises(ValueError, match=r"book\.db: its lines end in CR alone"):
        open_text(path)


@pytest.mark.parametrize("whole", [search.book.text_book.READ_WHOLE, 0])
def test_positions_of_full_width_are_found(tmp_path, monkeypatch, whole):
    """A position whose line is not seen would leave its moves to the position before."""
    monkeypatch.setattr(search.book.text_book, "READ_WHOLE", whole)
    path, after = tmp_path / "book.db", "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w"
    lines = [f"sfen {after} − ２", "3c3d", f"sfen {START_SFEN.rsplit(' ', 1)[0]} １", "2g2f"]
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    book = TextBook(path, pytest.fail)
    assert [move.move for move in book.find(f"{after} - 2", ignore_ply=False)] == ["3c3d"]
    assert [move.move for move in book.find(START_SFEN, ignore_ply=False)] == ["2g2f"]


def test_a_whole_position_of_full_width_is_found_in_a_small_book(tmp_path):
    path, other = tmp_path / "book.db", "9/9/4k4/9/9/9/4K4/9/9 b G 1"
    full = "".join("　" if sign == " " else chr(ord(sign) + 0xFEE0) for sign in f"sfen {other}")
    path.write_text(f"{HEADER}sfen {START_SFEN}\n2g2f\n{full}\nG*5d\n", encoding="utf-8")
    book = TextBook(path, pytest.fail)
    assert [move.move for move in book.find(other)] == ["G*5d"]
    assert [move.move for move in book.find(START_SFEN)] == ["2g2f"]


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("8c8d none \N{MINUS SIGN}20 20 1", BookMove("8c8d", None, -20, 20, 1)),
        ("７ｇ７ｆ　３ｃ３ｄ　－１０　２０　５", BookMove("7g7f", "3c3d", -10, 20, 5)),
        ("P*5e none 1 99999999999 2", BookMove("P*5e", None, 1, 99_999, 2)),
        ("7g7f none 1 -3 -2", BookMove("7g7f", None, 1, 0, 0)),
    ],
)
def test_numbers_of_full_width_are_read_and_depths_have_limits(tmp_path, line, move):
    path = tmp_path / "book.db"
    path.write_text(f"{HEADER}sfen {START_SFEN}\n{line}\n", encoding="utf-8")
    assert TextBook(path, pytest.fail).find(START_SFEN) == [move]


def test_an_unreadable_line_is_quoted_in_its_own_characters(tmp_path):
    path, said = tmp_path / "book.db", []
    path.write_text(f"{HEADER}sfen {START_SFEN}\n７六歩 none\n2g2f\n", encoding="utf-8")
    TextBook(path, said.append)
    assert "cannot read the move '７六歩 none'" in said[0]


def test_optional_parts_of_a_line_may_be_missing(tmp_path):
    path = tmp_path / "book.db"
    path.write_text(
        "\ufeff" + HEADER + f"// words\nsfen {START_SFEN}\n7g7f\n# more words\n2g2f 8c8d\n5g5f none -3\n"
        "9g9f resign 1 2\nnone none 0 0 0\n1g1f none 9 9 9 and a remark\n\n7g7f 3c3d 5 6 7\n"
        "4g4f none none none 3\nwin none 0 0 0\n3g3f win 2\n8g8f null 4\n",
        encoding="utf-8",
    )
    assert open_text(path).find(START_SFEN) == [
        BookMove("7g7f", "3c3d", 5, 6, 8),
        BookMove("2g2f", "8c8d"),
        BookMove("5g5f", None, -3),
        BookMove("9g9f", None, 1, 2),
        BookMove("1g1f", None, 9, 9, 9),
        BookMove("4g4f", count=3),
        BookMove("3g3f", None, 2),
        BookMove("8g8f", None, 4),
    ]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "line 1"),
        (b"one book\n", "line 1"),
        (HEADER.encode() + b"7g7f none 0 0 1\n", "line 2"),
        (HEADER.encode() + b"sfen lnsgkgsnl/9 b - 1\n", "line 2"),
        (HEADER.encode() + b"rubbish\n\xff\n", "line 2"),
    ],
)
def test_a_file_without_a_position_is_refused_with_file_and_line(tmp_path, content, place):
    path = tmp_path / "some book.db"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=place) as raised:
        open_text(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


GOOD = "2g2f none 5 6 7"


@pytest.mark.parametrize(
    "line",
    [
        "7g7f none x 0 1",
        "7g7f none 1.5 0 1",
        "7g7f none 0 deep 1",
        "7g7f none 0 0 1e3",
        "7g7f none 0 0 " + "9" * 30,
        "7g7f 3x3d 0 0 1",
        "seven none 0 0 1",
        "7g7f no",
        "\udcff\udcfe\x00 1 1",
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_an_unreadable_line_is_left_out_and_reported(tmp_path, monkeypatch, line, whole):
    if not whole:
        monkeypatch.setattr(search.book.text_book, "READ_WHOLE", 0)
    path, said = tmp_path / "some book.db", []
    text = f"{HEADER}sfen {START_SFEN}\n{line}\n{GOOD}\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    book = TextBook(path, said.append)
    assert book.find(START_SFEN) == [BookMove("2g2f", None, 5, 6, 7)]
    assert len(said) == 1
    assert str(path) in said[0]
    assert "\n" not in said[0]
    assert "line 3" in said[0] or not whole


def test_the_first_of_many_unreadable_lines_is_named(tmp_path):
    path, said = tmp_path / "book.db", []
    path.write_text(f"{HEADER}sfen {START_SFEN}\n{GOOD}\nbad 1\nbad 2\nsfen rubbish b - 1\n7g7f none 0 0 1\nworse")
    assert [move.move for move in TextBook(path, said.append).find(START_SFEN)] == ["2g2f"]
    (message,) = said
    assert "line 4" in message
    assert "4 such lines" in message


def test_a_position_after_blanks_is_found_in_a_small_book(tmp_path):
    path = tmp_path / "book.db"
    after = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    path.write_text(f"{HEADER}sfen {after}\n3c3d\n  sfen {START_SFEN}\n{GOOD}\n")
    assert [move.move for move in open_text(path).find(START_SFEN)] == ["2g2f"]
    assert [move.move for move in open_text(path).find(after)] == ["3c3d"]


@pytest.mark.parametrize("whole", [search.book.text_book.READ_WHOLE, 0])
def test_words_may_be_separated_by_tabs(tmp_path, monkeypatch, entries, answers, whole):
    """A position whose line is not seen would leave its moves to the position before."""
    monkeypatch.setattr(search.book.text_book, "READ_WHOLE", whole)
    path = tmp_path / "book.db"
    path.write_text(written(entries, sorted(entries)).replace(" ", "\t"))
    book = TextBook(path, pytest.fail)
    for sfen in entries:
        assert [(move.move, move.value, move.depth, move.count) for move in book.find(sfen)] == answers[sfen]


def test_a_truncated_book_is_read_or_refused(tmp_path, monkeypatch, entries):
    content = written(entries, sorted(entries)[:30]).encode()
    path, generator = tmp_path / "book.db", random.Random(4)
    for number in range(300):
        monkeypatch.setattr(search.book.text_book, "READ_WHOLE", (1 << 20) * (number % 2))
        data = bytearray(content[: generator.randrange(len(content))])
        for _ in range(number % 3):
            at = generator.randrange(len(data) + 1)
            data[at : at + 1] = generator.randbytes(1)
        path.write_bytes(data)
        try:
            book = open_text(path)
            for sfen in sorted(entries)[:30]:
                book.find(sfen)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 (either outcome is good)


def test_a_replaced_book_does_not_give_moves_of_other_positions(tmp_path, entries):
    """Positions of an unsorted book are found by their places in the opened file."""
    path, order = tmp_path / "book.db", sorted(entries, reverse=True)[:100]
    path.write_text(written(entries, order))
    book = open_text(path)
    path.write_text(written(entries, [order[1], order[0], *order[2:]]))
    reported = rf"{path.name}: .* set BookFile again"
    with pytest.raises(ValueError, match=reported):
        book.find(order[1])
    assert [move.move for move in book.find(order[50])] == [line.split()[0] for line in entries[order[50]]]
    path.write_text(HEADER)
    with pytest.raises(ValueError, match=reported):
        book.find(order[50])


def test_large_books_are_searched_on_disk(tmp_path):
    """A book that is too large to be read completely is opened and searched without reading it all."""
    path, filler = tmp_path / "book.db", "1" * 44
    stem = START_SFEN.rsplit(" ", 1)[0]
    with open(path, "w") as file:
        file.write(HEADER)
        for number in range(300_000):
            file.write(f"sfen 1{number:08d}{filler} b - 1\n7g7f none 0 0 1\n")
        file.write(f"sfen {stem} 1\n2g2f none 0 0 1\n")
    assert path.stat().st_size > search.book.text_book.READ_WHOLE
    book, read = open_text(path), []

    class Counted:
        def __init__(self, file):
            self._file = file

        def read(self, count):
            read.append(count)
            return self._file.read(count)

        def __getattr__(self, name):
            return getattr(self._file, name)

    with open(path, "rb") as file:
        assert len(book._places(Counted(file), stem.encode())) == 1
    assert sum(read) < 1 << 19
    assert [move.move for move in book.find(START_SFEN)] == ["2g2f"]
    assert book.find("9/9 b - 1") == []


def test_positions_are_found_on_the_turned_board(roots):
    for sfen in roots:
        pos = position_from_sfen(sfen)
        turned = position_from_sfen(flip_sfen(get_sfen(pos)))
        assert (turned["board"][::-1] == np.where(pos["board"] == 28, 28, (pos["board"] + 14) % 28)).all()
        assert (turned["hands"][::-1] == pos["hands"]).all()
        assert turned["turn"] == 1 - pos["turn"]
        assert flip_sfen(get_sfen(turned)) == get_sfen(pos)
        board = cshogi.Board(get_sfen(pos))
        moves = {cshogi.move_to_usi(move) for move in board.legal_moves}
        board.set_sfen(get_sfen(turned))
        assert {flip_move(cshogi.move_to_usi(move)) for move in board.legal_moves} == moves


def make(tmp_path: Path, *lines: str, sfen: str = START_SFEN) -> TextBook:
    path = tmp_path / "book.db"
    path.write_text(HEADER + f"sfen {sfen}\n" + "\n".join(lines) + "\n")
    return open_text(path)


def chosen(book: TextBook, rules: BookRules, sfen: str = START_SFEN, times: int = 400) -> Counter:
    generator, pos, said = random.Random(5), position_from_sfen(sfen), []
    hits = [choose([book], pos, rules, said.append, generator) for _ in range(times)]
    return Counter(hit and hit.analysis.best_move for hit in hits)


def test_moves_are_chosen_by_their_counts(tmp_path):
    book = make(tmp_path, "7g7f none 0 0 30", "2g2f none 0 0 10", "5g5f none 0 0 0")
    often = chosen(book, ALL)
    assert set(often) == {"7g7f", "2g2f"}
    assert 250 < often["7g7f"] < 350  # three quarters: 300 +- 9
    alike = chosen(book, BookRules(by_count=False))
    assert set(alike) == {"7g7f", "2g2f", "5g5f"}
    assert max(alike.values()) < 180
    never_played = make(tmp_path, "7g7f none 0 0 0", "2g2f none 0 0 0")
    assert set(chosen(never_played, ALL)) == {"7g7f", "2g2f"}


def test_moves_outside_the_limits_are_left_out(tmp_path):
    book = make(tmp_path, "7g7f none 40 20 50", "2g2f none 20 20 46", "5g5f none 5 20 4", "1g1f none -200 20 2")
    assert set(chosen(book, BookRules())) == {"7g7f", "2g2f"}  # within 30 of the best
    assert set(chosen(book, BookRules(value_differences=(10, 99_999)))) == {"7g7f"}  # black's limit counts
    assert set(chosen(book, BookRules(value_differences=(99_999, 99_999)))) == {
        "7g7f",
        "2g2f",
        "5g5f",
    }  # nothing below 0
    assert set(chosen(book, BookRules(value_differences=(10, 10)))) == {"7g7f"}
    assert set(chosen(book, BookRules(value_limits=(30, 0)))) == {"7g7f"}
    assert set(chosen(book, ALL)) == {"7g7f", "2g2f", "5g5f", "1g1f"}
    assert set(chosen(book, BookRules(narrow=True, value_differences=(99_999, 99_999)))) == {"7g7f", "2g2f"}
    assert set(chosen(book, BookRules(depth_limits=(21, 21)))) == {None}
    assert set(chosen(book, BookRules(moves=0))) == {None}
    half = chosen(book, BookRules(ignore_percent=50))
    assert 150 < half[None] < 250
    white = flip_sfen(START_SFEN)
    assert set(chosen(book, ALL, white)) == {"3c3d", "8c8d", "5c5d", "9c9d"}
    assert set(chosen(book, BookRules(value_limits=(-99_999, 30)), white)) == {"3c3d"}
    assert set(chosen(book, BookRules(flipped=False), white)) == {None}
    assert set(chosen(book, BookRules(ignore_ply=False), START_SFEN[:-1] + "3")) == {None}


def test_values_are_compared_with_the_best_value_not_with_the_most_played_move(tmp_path):
    book = make(tmp_path, "7g7f none -52 20 10", "2g2f none -41 5 4", "5g5f none -81 20 9")
    rules = BookRules(value_limits=(-1000, -1000))
    assert set(chosen(book, rules)) == {"7g7f", "2g2f"}
    assert set(chosen(book, BookRules(value_limits=(-1000, 0), value_differences=(40, 0)))) == {"7g7f", "2g2f", "5g5f"}
    assert set(chosen(book, BookRules(value_limits=(-1000, 0), value_differences=(0, 30)))) == {"2g2f"}
    assert set(chosen(book, BookRules(value_limits=(-1000, 0), depth_limits=(6, 0)))) == {None}


def test_illegal_moves_are_left_out_and_the_reply_is_legal(tmp_path):
    path = tmp_path / "book.db"
    after = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    path.write_text(f"{HEADER}sfen {START_SFEN}\n7g7f 7g7f 0 0 1\n5i5a\nP*5e\nsfen {after}\n3c3d\n8c8d none 0 0 9\n")
    pos, said = position_from_sfen(START_SFEN), []
    hit = choose([open_text(path)], pos, ALL, said.append)
    assert hit is not None
    assert (hit.analysis.best_move, hit.analysis.ponder_move) == ("7g7f", "8c8d")  # its own reply is illegal
    assert hit.lines == ("multipv 1 depth 0 score cp 0 pv 7g7f",)
    assert len(said) == 2
    assert all("is not legal" in words for words in said)
    path.write_text(path.read_text().replace("7g7f 7g7f", "7g7f none"))
    hit = choose([open_text(path)], pos, ALL, said.append)
    assert hit is not None
    assert hit.analysis.ponder_move == "8c8d"
    assert is_legal(position_from_sfen(after), np.int64(move_from_usi("8c8d")))
    assert hit.lines == ("multipv 1 depth 0 score cp 0 pv 7g7f",)


@pytest.mark.parametrize(("value", "reported"), [(-140, -140), (30_000, 20_000), (-100_000, -20_000)])
def test_values_are_reported_within_the_range_of_evaluations(tmp_path, value, reported):
    book = make(tmp_path, f"7g7f none {value} 20 1", f"2g2f none {value - 1} 20 1")
    rules = BookRules(value_differences=(0, 0), value_limits=(-1_000_000, 0))
    hit = choose([book], position_from_sfen(START_SFEN), rules, print)
    assert hit is not None
    assert (hit.analysis.best_move, hit.analysis.score_text) == (
        "7g7f",
        f"cp {reported}",
    )  # the value in the book counts
    assert hit.lines[0] == f"multipv 1 depth 20 score cp {reported} pv 7g7f"
