"""A judge for tests: a USI engine that reads its answers from a file."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.judge import judge
from experiments.usi_client.engines import Engine

SCRIPT = """#!{python} -SE
import json, sys, time
book = json.load(open(__file__ + ".json"))
position, knows = "", ""
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "usi":
        print("id name", book.get("name", "Scripted"))
        print("option name Style type string default x")
        print("usiok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "usinewgame":
        knows = ""
    elif word == "bench":
        print(book.get("bench", ""))
    elif word == "position":
        position = rest
    elif word == "go":
        print(f"{position} go {rest}{knows}", file=open(__file__ + ".diary", "a"))
        knows = ", knowing more"
        time.sleep(book.get("seconds", 0))
        move, score = book.get(position, book["else"])
        if score is not None:
            print("info depth 1 score", score, "pv", move)
        print("bestmove", move, flush=True)
    elif word == "quit":
        break
"""


@dataclass(frozen=True)
class Scripted:
    """The engine; `asked` returns its searches, and marks those after another search in the same game."""

    program: Path

    @property
    def command(self) -> str:
        return str(self.program)

    def answer(self, answers: dict[str, object]) -> None:
        """Set answers: [move, "cp 12"] by position, `else` for all others; `seconds` delays them. `name` is the name of
        the engine, and `bench` its answer to that command."""
        self.program.with_name(f"{self.program.name}.json").write_text(
            json.dumps({"else": ["resign", "cp 0"], **answers})
        )

    def asked(self) -> list[str]:
        diary = self.program.with_name(f"{self.program.name}.diary")
        return diary.read_text().splitlines() if diary.exists() else []


def _scripted(program: Path) -> Scripted:
    program.write_text(SCRIPT.replace("{python}", sys.executable))
    program.chmod(0o755)
    found = Scripted(program)
    found.answer({})
    return found


@pytest.fixture
def scripted(tmp_path) -> Scripted:
    """The engine that judges."""
    return _scripted(tmp_path / "scripted")


@pytest.fixture
def opponent(tmp_path) -> Scripted:
    """Another engine, whose moves are judged."""
    return _scripted(tmp_path / "opponent")


_asked_once = functools.cache(judge.ask_engine)
_IDENTITIES: dict[str, Mapping[str, object]] = {}


@pytest.fixture
def known_judge(monkeypatch):
    """Ask each engine for its identity only once, because this starts LiteShogi, and twice for its signature."""
    identify = judge.configured_condition

    def remembered(engine: Engine, digests: Mapping[Path, str]) -> Mapping[str, object]:
        who = repr((engine.arguments, engine.options))
        if who not in _IDENTITIES:
            _IDENTITIES[who] = identify(engine, digests)
        return _IDENTITIES[who]

    monkeypatch.setattr(judge, "ask_engine", _asked_once)
    monkeypatch.setattr(judge, "configured_condition", remembered)
