"""The tables of texts are complete, have the same values, and are chosen by option, locale and notation."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from dataclasses import fields

import pytest

from experiments.drawing.fonts import NOTATION_FONT
from experiments.language.catalogue import LABEL, japanese_messages
from experiments.language.choose import words_for
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.japanese_game import is_japanese_game
from experiments.language.words import Words

SIDE_NAMES = {"black", "white"}


def texts(words: Words) -> Iterator[tuple[str, str]]:
    """Yield every text of a table with the name of its field and key."""
    for field in fields(words):
        value = getattr(words, field.name)
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        if isinstance(value, str):
            pairs = [("", value)]
        yield from ((f"{field.name} {key}", text) for key, text in pairs)


def values_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_every_text_with_the_same_values() -> None:
    english, japanese = dict(texts(ENGLISH)), dict(texts(JAPANESE))
    assert english.keys() == japanese.keys()
    for name, text in english.items():
        assert bool(text) == bool(japanese[name]), name
        assert values_of(text) - SIDE_NAMES == values_of(japanese[name]) - SIDE_NAMES, name


def test_japanese_texts_are_japanese() -> None:
    for name, text in texts(JAPANESE):
        if not text or name == "code ":
            continue
        without_values = "".join(literal for literal, *_ in string.Formatter().parse(text))
        assert any(ord(character) > 0x3000 for character in without_values), name
        for word in ("slack", "doubtful", "blunder", "mistake", "Line", "Turn", "wins", "Start"):
            assert word not in without_values, name


@pytest.mark.parametrize(
    ("language", "japanese_game", "environment", "code"),
    [
        ("ja", False, {"LANG": "en_US.UTF-8"}, "ja"),
        ("en", True, {"LANG": "ja_JP.UTF-8"}, "en"),
        ("auto", False, {"LANG": "ja_JP.UTF-8"}, "ja"),
        ("auto", False, {"LC_ALL": "C", "LANG": "ja_JP.UTF-8"}, "en"),
        ("auto", True, {"LC_ALL": "C"}, "ja"),
        ("auto", False, {}, "en"),
    ],
)
def test_the_language_is_chosen(language, japanese_game, environment, code) -> None:
    assert words_for(language, japanese_game, environment).code == code


def test_japanese_texts_can_be_shown_without_a_japanese_font() -> None:
    """Pages and pictures bring a font with the characters of this program's own texts."""
    from matplotlib import font_manager

    font = font_manager.get_font(str(NOTATION_FONT))
    # The columns of `mate` and progress lines are only printed on a terminal.
    own = (text for name, text in texts(JAPANESE) if not name.startswith(("mate_columns", "time_left")))
    shown = [*own, *japanese_messages(LABEL).values()]
    characters = {character for text in shown for character in text if ord(character) > 0x2E7F}
    assert not [character for character in sorted(characters) if not font.get_char_index(ord(character))]


@pytest.mark.parametrize(
    ("name", "text", "japanese"),
    [
        ("game.kif", "", True),
        ("missing.ki2", None, True),
        ("game.txt", "手合割：平手\n   1 ７六歩(77)\n", True),
        ("game.csa", "▲７六歩 △３四歩\n", True),
        ("game.txt", "startpos moves 7g7f\n", False),
        ("game.kif", "V2.2\nPI\n+\n+7776FU\n", False),
        ("game.jkf", "手合割：平手\n", False),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_the_lines_of_a_file_decide_whether_its_notation_is_japanese(name, text, japanese, encoding, tmp_path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding)
    assert is_japanese_game(tmp_path / name) == japanese
