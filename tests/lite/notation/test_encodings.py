"""Files of games in every encoding, and the files of a folder."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from lite.datasets.chunks import data_files
from lite.notation.game import Game
from lite.notation.games import read_games

CSA_HEAD = "PI\n+\n+7776FU\n-3334FU\n"


def only(path: Path) -> Game:
    (game,) = read_games(path)
    assert isinstance(game, Game), game
    return game


def test_files_of_all_encodings_and_folders_are_read(data_directory: Path, tmp_path: Path) -> None:
    text = (data_directory / "wcsc28.kif").read_bytes().decode("cp932")
    for encoding in ("utf-8", "utf-8-sig", "cp932", "euc_jp", "iso2022_jp"):
        (tmp_path / "a.kif").write_bytes(text.encode(encoding))
        assert len(only(tmp_path / "a.kif").moves) == 49
    (tmp_path / "b.csa").write_bytes(b"\x81\xff\x81")
    assert "neither UTF-8" in str(next(iter(read_games(tmp_path / "b.csa"))))
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "c.csa").write_text(CSA_HEAD + "%TORYO")
    (tmp_path / "README.txt").write_text("Five\nlines\nof\nno\ngame\n")
    (tmp_path / "below" / "c.analysed.kif").write_text("the game beside it, with comments")
    assert [path.name for path in data_files((tmp_path,))] == ["a.kif", "b.csa", "c.csa"]
    assert [path.name for path in data_files((tmp_path / "README.txt", tmp_path / "b.csa", tmp_path))] == [
        "README.txt",
        "b.csa",
        "a.kif",
        "c.csa",
    ]
    assert data_files((tmp_path / "b.csa", tmp_path / "below" / ".." / "b.csa")) == [tmp_path / "b.csa"]
    (tmp_path / "d.doc").touch()
    with pytest.raises(ValueError, match=r"d\.doc"):
        next(iter(read_games(tmp_path / "d.doc")))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n\x1a", "\0\0"])
def test_games_in_utf_16_are_read(tmp_path: Path, encoding: str, end: str) -> None:
    """Editors of Windows call it Unicode."""
    texts = {
        "a.csa": f"N+a\n{CSA_HEAD}%TORYO\n",
        "b.csa": f"N+甲\n{CSA_HEAD}%TORYO\n",
        "a.kif": "先手：甲\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n",
        "a.usi": "startpos moves 7g7f 3c3d resign\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(("\ufeff" + text + end).encode(encoding))
        assert (len(only(tmp_path / name).moves), only(tmp_path / name).result) == (2, 2)


def test_joined_files_may_each_have_a_byte_order_mark(tmp_path: Path) -> None:
    game = f"\ufeffV2.2\nN+甲\n{CSA_HEAD}%TORYO\n"
    for text, count in ((f"{game}/\n{game}", 2), (game * 3, 3)):
        (tmp_path / "a.csa").write_text(text, encoding="utf-8")
        assert [one.names for one in read_games(tmp_path / "a.csa") if isinstance(one, Game)] == [("甲", "")] * count


def kanji_of_level_1() -> str:
    """Return the 2,965 common kanji of JIS X 0208."""
    cells = (bytes((row, cell)) for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF))
    return "".join(cell.decode("euc_jp", "ignore") for cell in cells)


HIRAGANA = "".join(map(chr, range(0x3041, 0x3094)))
KATAKANA = "".join(map(chr, range(0x30A1, 0x30F7)))
WORDS = st.text(HIRAGANA + KATAKANA + kanji_of_level_1() + "ー", min_size=1, max_size=8)
SPOKEN = st.builds(
    str.__add__,
    st.sampled_from("ｱｲｳｴｵﾅﾆﾇﾈﾉﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝ"),
    st.lists(st.sampled_from([*"ｱｶｻﾀﾊﾝｰｯ", "ｶﾞ", "ｷｬ", "ｼﾞｮ", "ﾌｧ", "ﾊﾟ", "ｳﾞｧ", "･ﾏ"]), max_size=8).map("".join),
)


@settings(max_examples=200)
@given(st.tuples(WORDS, st.text(HIRAGANA, min_size=1, max_size=4)).map("".join), WORDS | st.just("gps_l"))
def test_names_with_hiragana_are_read_in_every_encoding(
    tmp_path_factory: pytest.TempPathFactory, one: str, other: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "names.csa"
    for encoding in ("utf-8", "cp932", "euc_jp"):
        path.write_bytes(f"N+{one}\nN-{other}\n{CSA_HEAD}%TORYO".encode(encoding))
        assert only(path).names == (one, other)


@settings(max_examples=200)
@given(SPOKEN, SPOKEN | WORDS | st.just("gps_l"))
@example("ｱｱ", "ｱｱ")
def test_half_width_names_are_read_as_shift_jis(tmp_path_factory: pytest.TempPathFactory, one: str, other: str) -> None:
    path = tmp_path_factory.getbasetemp() / "names.csa"
    raw = f"N+{one}\nN-{other}\n{CSA_HEAD}%TORYO".encode("cp932")
    with contextlib.suppress(UnicodeDecodeError):
        raw.decode()
        reject()  # the bytes of ﾈｺ are also a Latin letter
    path.write_bytes(raw)
    assert only(path).names == (one, other)


@pytest.mark.parametrize("name", ["ひふみん", "ツツカナ", "羽生善治", "激指"])
def test_euc_that_could_be_half_width_kana_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csa").write_bytes(f"N+{name}\n{CSA_HEAD}%TORYO".encode("euc_jp"))
    assert only(tmp_path / "a.csa").names == (name, "")
