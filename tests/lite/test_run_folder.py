"""The folder of a run: written data are kept, another run is refused, and everything that is read is checked."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lite import json_lines, run_folder
from lite.run_folder import RECORD, RESULTS, Line, Net, RunPlan, RunWriter, Source, find_run, read_lines, read_run
from search.system.command_line import started_by
from search.system.options import OptionError


@dataclass(frozen=True)
class Step(Line, kind="a step of a test"):
    number: int
    loss: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Other(Line, kind="another line of a test"):
    name: str


PLAN = RunPlan(
    "test",
    {"seed": 1, "labels": {"nodes": 5}, "path": Path("a")},
    {"games": 10},
    (Source("data", "games.hcpe", 1, 700, "c0ffee"),),
    (Net("net", "default", "ab"),),
    {"signature": 7},
)


def written(folder: Path, plan: RunPlan = PLAN, *lines: Line) -> None:
    with RunWriter(folder, plan) as writer:
        for line in lines:
            writer.append(line)


def test_a_run_is_recorded(tmp_path):
    inside = str(tmp_path.absolute() / "net.bin")
    with started_by(["test", "--seed", "1"]), RunWriter(tmp_path, replace(PLAN, files={inside: "12"})) as writer:
        assert writer.is_new
        assert read_run(tmp_path).state == "running"
        writer.append(Step(3, 0.5, ("a", "b")))
        writer.append(Other("x"))
        writer.update({"positions": 10, "share": 0.5})
    record = read_run(tmp_path)
    assert (record.verb, record.arguments, record.state) == ("test", ("test", "--seed", "1"), "done")
    assert record.options == {"seed": 1, "labels": {"nodes": 5}, "path": "a"}
    assert (record.goal, record.conditions, record.totals) == (
        {"games": 10},
        {"signature": 7},
        {"positions": 10, "share": 0.5},
    )
    assert (record.sources, record.nets, record.files) == (PLAN.sources, PLAN.nets, {"net.bin": "12"})
    assert record.made_by[0].machine.cores >= 1
    assert list(read_lines(tmp_path, Step)) == [Step(3, 0.5, ("a", "b"))]
    assert list(read_lines(tmp_path, Step, Other)) == [Step(3, 0.5, ("a", "b")), Other("x")]
    carried = record.provenance()
    assert not {"arguments", "files", "state"} & vars(carried).keys()
    assert carried.options == record.options


def test_the_state_records_the_end_of_a_call(tmp_path):
    for error, state in ((KeyboardInterrupt, "interrupted"), (ValueError, "failed")):
        with pytest.raises(error), RunWriter(tmp_path, PLAN):
            raise error
        assert read_run(tmp_path).state == state
    with RunWriter(tmp_path, PLAN) as writer:
        writer.interrupt()
    assert read_run(tmp_path).state == "interrupted"


def test_time_and_totals_continue(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(run_folder.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(run_folder, "_now", lambda: f"at {clock[0]:g}")
    with RunWriter(tmp_path, PLAN) as writer:
        writer.append(Step(1))
        clock[0] += 50
        writer.update({"positions": 7})
    clock[0] += 1000
    with RunWriter(tmp_path, PLAN) as writer:
        assert not writer.is_new
        assert writer.record.totals == {"positions": 7}
        clock[0] += 50
    record = read_run(tmp_path)
    assert (record.started, record.updated, record.seconds) == ("at 100", "at 1200", 100)
    assert len(record.made_by) == 1


def test_another_version_is_recorded_beside_the_first(tmp_path, monkeypatch):
    written(tmp_path, PLAN, Step(1))
    monkeypatch.setattr(run_folder, "cpu_name", lambda: "another CPU")
    written(tmp_path, PLAN)
    assert [one.machine.cpu == "another CPU" for one in read_run(tmp_path).made_by] == [False, True]


@pytest.mark.parametrize(
    ("plan", "fields", "words"),
    [
        (replace(PLAN, verb="other"), ("output",), "the verb test, not other"),
        (replace(PLAN, options={**PLAN.options, "seed": 2}), ("output", "seed"), "`seed` 1, not 2"),
        (replace(PLAN, options={"seed": 1, "path": "a"}), ("output", "labels"), r"`labels` {.*}, not null"),
        (
            replace(PLAN, options={**PLAN.options, "labels": {"nodes": 6}}),
            ("output", "labels"),
            "`labels` nodes 5, not 6",
        ),
        (replace(PLAN, sources=()), ("output",), r"other sources: games.hcpe \(data, sha256 c0ffee\), not none"),
        (replace(PLAN, nets=(Net("net", "mine", "cd"),)), ("output",), "other nets: default .*, not mine"),
        (replace(PLAN, conditions={"signature": 8}), ("output",), "another signature: 7, not 8"),
    ],
)
def test_another_run_is_refused_without_changes(tmp_path, plan, fields, words):
    written(tmp_path, PLAN, Step(1))
    before = (tmp_path / RECORD).read_bytes()
    with pytest.raises(OptionError, match=words) as caught:
        written(tmp_path, plan)
    assert caught.value.fields == fields
    assert (tmp_path / RECORD).read_bytes() == before


def test_the_goal_and_the_paths_of_files_may_change(tmp_path):
    written(tmp_path, PLAN, Step(1))
    moved = (replace(PLAN.sources[0], name="renamed.hcpe"),)
    written(tmp_path, replace(PLAN, goal={"games": 20}, sources=moved))
    assert read_run(tmp_path).goal == {"games": 20}


def test_a_folder_without_results_starts_again(tmp_path):
    written(tmp_path)
    written(tmp_path, replace(PLAN, verb="other", options={}))
    assert read_run(tmp_path).verb == "other"
    written(tmp_path, replace(PLAN, verb="other", options={}), Step(1))
    with RunWriter(tmp_path, PLAN, overwrite=True) as writer:
        assert writer.is_new
    assert list(read_lines(tmp_path, Step)) == []


@pytest.mark.parametrize("tail", [b'{"kind": "a step of a te', b"\0\0\0\0\n", b"[1]\n", b"\xff\xfe"])
def test_a_truncated_last_line_is_dropped(tmp_path, tail):
    written(tmp_path, PLAN, Step(1), Step(2))
    with open(tmp_path / RESULTS, "ab") as file:
        file.write(tail)
    assert [line.number for line in read_lines(tmp_path, Step)] == [1, 2]
    written(tmp_path, PLAN, Step(3))
    assert [line.number for line in read_lines(tmp_path, Step)] == [1, 2, 3]


def test_a_long_last_line_is_read_completely(tmp_path):
    written(tmp_path, PLAN, Step(1, notes=("x" * 200_000,)))
    written(tmp_path, PLAN, Step(2))
    assert [line.number for line in read_lines(tmp_path, Step)] == [1, 2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"what\n", "line 1: not a JSON object"),
        (b"[]\n", "line 1: not a JSON object"),
        (b'{"number": 1}\n', "line 1: kind must be given"),
        (b'{"kind": "a step of a test"}\n', "line 1: number must be given"),
        (b'{"kind": "a step of a test", "number": "1"}\n', "line 1: number = '1' is not a whole number"),
        (b'{"kind": "a step of a test", "number": 1, "los": 2}\n', "line 1: unknown los"),
        (b'{"kind": "a step of a test", "number": 1, "loss": NaN}\n', "line 1: loss = nan is not a finite number"),
        (b'{"kind": "a step of a test", "number": 1, "notes": [3]}\n', r"line 1: notes = 3 is not a text"),
        (b"[" * 100_000 + b"\n", "line 1: not a JSON object"),
    ],
)
def test_damaged_lines_are_refused_by_number_and_field(tmp_path, line, words):
    written(tmp_path, PLAN)
    (tmp_path / RESULTS).write_bytes(line + b'{"kind": "a step of a test", "number": 2}\n')
    with pytest.raises(ValueError, match=rf"results\.jsonl: {words}.*; restore it"):
        list(read_lines(tmp_path, Step))


def test_an_endless_line_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "_LARGEST_LINE", 100)
    written(tmp_path, PLAN)
    (tmp_path / RESULTS).write_bytes(b'{"kind":' + b" " * 1000 + b"\n")
    with pytest.raises(ValueError, match=r"results\.jsonl: line 1: longer than"):
        list(read_lines(tmp_path, Step))


def changed(folder: Path, **fields: object) -> str:
    return json.dumps(json.loads((folder / RECORD).read_text()) | fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"format": "another"}, "its format is not"),
        ({"version": 2}, "its version is 2, this program reads version 1"),
        ({"options": []}, "options = .* is not a table"),
        ({"state": "asleep"}, "state = 'asleep' is not"),
        ({"made_by": []}, "made_by must name"),
        ({"made_by": [{"versions": {}, "machine": {"cpu": 3}}]}, "made_by: machine: kernel, cores must be given"),
        ({"nets": [3]}, "nets: '3' is not a table of role, name, sha256"),
        ({"totals": {"positions": "many"}}, "totals = 'many' is not"),
        ({"seconds": float("inf")}, "seconds = inf is not a finite number"),
        ({"unknown": 1}, "unknown unknown"),
        ({"verb": "x" * (5 << 20)}, "larger than 4 MB"),
    ],
)
def test_a_damaged_record_is_refused_by_field(tmp_path, fields, words):
    written(tmp_path)
    (tmp_path / RECORD).write_text(changed(tmp_path, **fields))
    with pytest.raises(ValueError, match=rf"run\.json: not the record of a run \(.*{words}.*\); restore it"):
        find_run(tmp_path)
    with pytest.raises(ValueError, match=r"run\.json"):
        written(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"[]"])
def test_invalid_records_of_runs_are_refused(tmp_path, content):
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(ValueError, match=r"run\.json: not the record of a run"):
        find_run(tmp_path)


def test_an_error_names_a_folder_without_a_run(tmp_path):
    assert find_run(tmp_path) is None
    with pytest.raises(ValueError, match=r"no run folder: it has no run\.json"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["description.json", "ledger.json", "match.yaml", "points.jsonl"])
def test_folders_of_older_versions_are_refused_by_version(tmp_path, name):
    (tmp_path / name).write_text("{}")
    with pytest.raises(ValueError, match=rf"version before 0\.1\.0 \({name}\)"):
        read_run(tmp_path)
    with pytest.raises(OptionError, match=rf"version before 0\.1\.0 \({name}\)"):
        written(tmp_path)


def test_results_without_a_record_are_refused(tmp_path):
    written(tmp_path, PLAN, Step(1))
    (tmp_path / RECORD).unlink()
    with pytest.raises(OptionError, match=r"results\.jsonl without the run\.json"):
        written(tmp_path)


def test_one_process_works_in_a_folder(tmp_path):
    with RunWriter(tmp_path, PLAN), pytest.raises(ValueError, match="another run is at work here"):
        written(tmp_path)


def test_a_refused_folder_keeps_no_lock(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "description.json").write_text("{}")
    with pytest.raises(OptionError):
        written(tmp_path / "run")
    with pytest.raises(OptionError):
        written(tmp_path / "run")


def test_lines_of_many_threads_are_complete(tmp_path):
    with RunWriter(tmp_path, PLAN) as writer:
        threads = [threading.Thread(target=writer.append, args=(Step(number),)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(line.number for line in read_lines(tmp_path, Step)) == list(range(20))


def test_kinds_of_lines_must_have_different_names():
    with pytest.raises(TypeError, match="are Step already"):

        class Twice(Line, kind="a step of a test"):
            pass
