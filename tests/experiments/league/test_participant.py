"""Players as written on the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.league.participant import Participant, parse_participant, unique_names


@pytest.mark.parametrize(
    ("text", "label", "command", "options", "name"),
    [
        ("default", "", "default", (), "default"),
        ("nets/mine.safetensors", "", "nets/mine.safetensors", (), "mine"),
        ("default razor_margin=300", "", "default", ("razor_margin=300",), "default razor_margin=300"),
        ("a=default razor_margin=300 USI_Hash=4", "a", "default", ("razor_margin=300", "USI_Hash=4"), "a"),
        ("first-default=/n/old.safetensors", "first-default", "/n/old.safetensors", (), "first-default"),
        (
            "/e/YaneuraOu EvalDir='/n/my nets' Threads=1",
            "",
            "/e/YaneuraOu",
            ("EvalDir=/n/my nets", "Threads=1"),
            "YaneuraOu EvalDir=my nets Threads=1",
        ),
        (
            "yo=/e/YaneuraOu\nBookFile=no_book\nThreads=1\n",
            "yo",
            "/e/YaneuraOu",
            ("BookFile=no_book", "Threads=1"),
            "yo",
        ),
        (
            """e=/e/engine 'Skill Level=3' Threads=1 "Book File=/n/my book" """,
            "e",
            "/e/engine",
            ("Skill Level=3", "Threads=1", "Book File=/n/my book"),
            "e",
        ),
        ("liteshogi puct net.onnx", "", "liteshogi puct net.onnx", (), "liteshogi puct net.onnx"),
        ("/usr/bin/env A=b engine", "", "/usr/bin/env A=b engine", (), "env A=b engine"),
        ("engine --net=x", "", "engine --net=x", (), "engine --net=x"),
    ],
)
def test_a_player_is_a_name_a_command_and_options(text, label, command, options, name):
    found = parse_participant(text)
    assert (found.label, found.command, found.options) == (label, command, options)
    assert found.name == name


def test_an_unclosed_quotation_is_reported_with_its_player():
    with pytest.raises(ValueError, match='player "engine Style=Wild\'": No closing quotation'):
        parse_participant("engine Style=Wild'")


def test_a_file_name_may_contain_spaces_and_equals_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a=b c=d.safetensors"
    path.touch()
    assert parse_participant(path.name) == Participant("", path.name)
    assert parse_participant(f"x={path.name}") == Participant("x", path.name)
    assert parse_participant(f"x={path}").name == "x"


WORDS = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)


@given(WORDS, st.lists(st.tuples(WORDS, st.from_regex(r"[A-Za-z0-9 /._-]{0,12}", fullmatch=True)), max_size=3))
def test_written_players_are_read_back(label, options):
    text = f"{label}=/engines/x" + "".join(f" {name}='{value}'" for name, value in options)
    chosen = tuple(f"{name}={value}" for name, value in options)
    assert parse_participant(text) == Participant(label, "/engines/x", chosen)


def test_two_players_of_one_name_are_refused():
    players = [parse_participant(text) for text in ("default", "b=default", "default")]
    with pytest.raises(ValueError, match="2 players are called default: name them, as in A=default"):
        unique_names(players)
    assert unique_names(players[:2]) == ["default", "b"]
