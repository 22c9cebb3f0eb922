"""The schema of the JSON output is complete, equals the file in the documents, and describes the printed objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lite.datasets.provenance import sha256_of
from lite.run_folder import RunPlan, RunWriter
from liteshogi.__main__ import _run
from liteshogi.json_schema import PRINTED, all_schemas, as_text
from liteshogi.verbs import VERBS

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "experiments" / "sample" / "valid_sample.hcpe3"
FILE = ROOT / "docs" / "how" / "json_schema.json"
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def is_valid(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Return whether a value has a schema, as far as this project's schemas go."""
    if "$ref" in schema:
        return is_valid(value, whole["$defs"][schema["$ref"].removeprefix("#/$defs/")], whole)
    if "anyOf" in schema:
        return any(is_valid(value, part, whole) for part in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    if "type" in schema and not isinstance(value, KINDS[schema["type"]]):
        return False
    if isinstance(value, list):
        return all(is_valid(one, schema.get("items", {}), whole) for one in value)
    if isinstance(value, dict):
        schemas = schema.get("properties", {})
        if "additionalProperties" in schema:
            schemas = dict.fromkeys(value, schema["additionalProperties"]) | schemas
        return set(schema.get("required", ())) <= value.keys() <= schemas.keys() and all(
            is_valid(one, schemas[name], whole) for name, one in value.items()
        )
    return True


def test_every_command_with_json_has_a_schema():
    commands = {
        " ".join(words) for name, verb in VERBS.items() for words in ([(name, one) for one in verb.kinds] or [(name,)])
    }
    assert PRINTED.keys() == commands - {"puct"}


def test_the_schema_file_equals_the_schema_of_the_dataclasses():
    assert FILE.read_text(encoding="utf-8") == as_text(), f"python -m liteshogi.json_schema > {FILE}"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("eval", "default startpos"),
        ("mate", "startpos --file problems.sfen"),
        ("analyse", "game.usi --nodes 100"),
        ("perft", "startpos 2"),
        ("perft", "startpos 2 --divide"),
        ("bench search", "default --depth 2"),
        ("test", "default SAMPLE --positions 100"),
        ("stat", "SAMPLE"),
        ("convert", "SAMPLE -o all.psv"),
        ("export", "default -o vectors.json"),
        ("export", "default -o net.h"),
        ("bench reading", "SAMPLE --rounds 1"),
        ("selfplay alphabeta", "default -o games --nodes 5 --positions 20 --workers 1"),
        ("match", "default lite-16-4-32 -o match --nodes 5 --games 2 --max-moves 20 --parallel 1"),
        ("report", "RUN --verify"),
        ("judge moves", "default positions.sfen --judge liteshogi --judge-nodes 9 --judge-option USI_Hash=16"),
        ("judge health", "default SAMPLE --nodes 50 --long-nodes 90 --count 2"),
    ],
)
def test_printed_objects_match_their_schema(command, arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("problems.sfen").write_text('{"sfen": "4k4/9/4G4/9/9/9/9/9/9 b G 1", "ply": 1}\n')
    Path("game.usi").write_text("startpos moves 7g7f resign\n")
    Path("positions.sfen").write_text("startpos moves 7g7f 3c3d\n")
    with RunWriter(Path("run"), RunPlan("match", files={str(SAMPLE): sha256_of(SAMPLE)})):
        pass
    words = [{"SAMPLE": str(SAMPLE), "RUN": "run"}.get(word, word) for word in arguments.split()]
    assert _run([*command.split(), *words, "--json"]) == 0
    whole = all_schemas()
    found = json.loads(capsys.readouterr().out)
    assert is_valid(found, whole["properties"][command], whole), found


def test_an_object_with_other_fields_is_not_valid():
    whole = all_schemas()
    schema = whole["properties"]["perft"]
    counted = {"nodes": 30, "seconds": 0.1, "divide": None}
    assert is_valid(counted, schema, whole)
    assert not is_valid(counted | {"seconds": "0.1"}, schema, whole)
    assert not is_valid(counted | {"second": 0.1}, schema, whole)
    for name in counted:
        assert not is_valid({other: value for other, value in counted.items() if other != name}, schema, whole)
