"""The writer of JSON output: every value of a result, fields that are left out, and several results in one object."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from liteshogi.json_output import json_text


class Colour(Enum):
    BLACK = "black"


@dataclass(frozen=True)
class Inner:
    job: int
    value: float | None
    other: float | None = None


@dataclass(frozen=True)
class Outer:
    path: Path
    colour: Colour
    rows: tuple[Inner, ...]
    by_name: dict[str, Any]


RESULT = Outer(Path("a") / "b", Colour.BLACK, (Inner(1, None),), {"job": 3, "value": None, "inner": Inner(2, 0.5)})


def test_every_value_of_a_result_becomes_json() -> None:
    assert json.loads(json_text(RESULT)) == {
        "path": str(Path("a") / "b"),
        "colour": "black",
        "rows": [{"job": 1, "value": None, "other": None}],
        "by_name": {"job": 3, "value": None, "inner": {"job": 2, "value": 0.5, "other": None}},
    }


def test_entries_are_left_out_of_the_object_but_not_of_its_parts() -> None:
    found = json.loads(json_text(RESULT, {"job": 5, "more": Inner(4, None)}, without=("job", "path", "colour")))
    assert found == {
        "rows": [{"job": 1, "value": None, "other": None}],
        "by_name": {"job": 3, "value": None, "inner": {"job": 2, "value": 0.5, "other": None}},
        "more": {"job": 4, "value": None, "other": None},
    }


def test_several_results_are_one_object() -> None:
    assert json.loads(json_text(Inner(1, 2.0), {"more": [Inner(2, None)]}, without=("other",))) == {
        "job": 1,
        "value": 2.0,
        "more": [{"job": 2, "value": None, "other": None}],
    }


def test_characters_outside_ascii_are_escaped_by_default() -> None:
    assert json_text({"name": "羽生"}) == '{"name": "\\u7fbd\\u751f"}'
    assert json_text({"name": "羽生"}, readable=True) == '{"name": "羽生"}'
