"""Options and limits from a GUI: invalid values are refused with a message that names the option."""

from __future__ import annotations

import pytest

from search.clock import Clocks
from search.usi.alphabeta import OPTIONS as ENGINE_OPTIONS
from search.usi.book_options import OPTIONS as BOOK_OPTIONS
from search.usi.go import Go, parse_go
from search.usi.usi_options import SESSION_OPTIONS, OptionValues
from tests.usi_session import InProcess

OPTIONS = ENGINE_OPTIONS + SESSION_OPTIONS + BOOK_OPTIONS[1]


def test_guis_can_read_the_declarations():
    for option in OPTIONS:
        declaration = option.declaration()
        words = declaration.split(" ")
        assert words[:2] == ["option", "name"]
        assert words[3] == "type"
        assert words[5] == "default"
        assert "" not in words
        if words[4] == "spin":
            assert all(abs(int(number)) < 1 << 31 for number in words[6::2])
    assert len({option.name.lower() for option in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize(
    ("name", "text", "range_named"),
    [
        ("USI_Hash", "many", ""),
        ("USI_Hash", "", ""),
        ("Threads", "0", "1 to 64"),
        ("MultiPV", "-3", "1 to 593"),
        ("USI_Ponder", "maybe", "true"),
        ("EnteringKingRule", "Mine", "CSARule27"),
        ("Nonsense", "1", ""),
        ("Skill Level", "5", ""),
    ],
)
def test_invalid_values_are_refused_with_the_name_of_the_option(name, text, range_named):
    with pytest.raises(ValueError, match=name) as raised:
        OptionValues(OPTIONS).set(name, text)
    assert range_named in str(raised.value)
    session = InProcess().send(f"setoption name {name} value {text}")
    assert str(raised.value) in session.words()


def test_option_values_are_set():
    values = OptionValues(OPTIONS)
    assert values.set("usi_hash", "77") == "USI_Hash"
    values.set("EvalFile", "/a path/with spaces.safetensors")
    values.set("USI_Ponder", "true")
    assert values.number("USI_Hash") == 77
    assert values.text("EvalFile") == "/a path/with spaces.safetensors"
    assert values.flag("USI_Ponder")
    for nothing in ("", "<empty>"):
        values.set("EvalFile", "a file")
        values.set("EvalFile", nothing)
        assert values.text("EvalFile") == "default"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("EvalDir", "EvalFile"),
        ("Hash", "USI_Hash"),
        ("DrawValueBlack", "Draw_Value_Black"),
        ("Skill Level", "Level"),
        ("Contempt", ""),
        ("H" * 1_000_000, ""),
    ],
)
def test_an_unknown_option_names_the_one_that_is_meant(name, meant):
    values = OptionValues(OPTIONS)
    with pytest.raises(ValueError, match="unknown option") as refused:
        values.set(name, "1")
    assert str(refused.value).partition("; ")[2] == (meant and f"did you mean {meant}?")


def test_limits_of_go_are_parsed():
    limits, messages = parse_go("ponder btime 1000 wtime -20 binc 3 winc 4 byoyomi 5")
    assert limits == Go(Clocks(btime=1000, wtime=0, byoyomi=5, binc=3, winc=4), ponder=True)
    assert parse_go("depth 0 nodes 0")[0] == Go(depth=1, nodes=1)
    assert parse_go("infinite searchmoves 7g7f P*5e 8h2b+ movetime 9")[0] == Go(
        Clocks(movetime=9), infinite=True, searchmoves=("7g7f", "P*5e", "8h2b+")
    )
    assert parse_go("mate infinite")[0].mate == -1
    assert parse_go("mate 5000")[0].mate == 5000
    assert parse_go("mate")[0].mate == -1
    assert parse_go("mate nodes 1000") == (Go(mate=-1, nodes=1000), [])
    assert parse_go("mate 50 nodes 1000") == (Go(mate=50, nodes=1000), [])
    assert messages == []


def test_a_search_for_mate_has_no_clock():
    limits, (message,) = parse_go("mate byoyomi 300")
    assert limits.mate == -1
    assert "`go mate MILLISECONDS`" in message


UNREADABLE = (
    "depth",
    "depth x",
    "btime 10x",
    "btime " + "9" * 30,
    "nodes 1.5",
    "nodes 1e3",
    "movetime 100.5",
    "byoyomi",
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_search_whose_only_limits_are_unreadable_is_brief(text):
    limits, messages = parse_go(text)
    assert limits == Go(Clocks(btime=0, wtime=0))
    assert "searching briefly" in messages[0]
    assert 1 < len(messages) <= 4
    assert all(message.startswith("go") for message in messages)


@pytest.mark.parametrize("text", [*UNREADABLE, "sideways"])
def test_unreadable_limits_are_ignored(text):
    limits, messages = parse_go(f"depth 3 {text}")
    assert limits == Go(depth=3)
    assert 1 <= len(messages) <= 4
    assert all(message.startswith("go") for message in messages)
    assert parse_go(f"infinite {text}")[0] == Go(infinite=True)
    assert parse_go(text, late=True)[0] == Go()


@pytest.mark.parametrize("text", ["mate 100.5", "mate -1", "mate nodes 1e3"])
def test_a_mate_search_whose_only_limits_are_unreadable_is_brief(text):
    limits, messages = parse_go(text)
    assert limits == Go(mate=0)
    assert "searching briefly" in messages[0]
