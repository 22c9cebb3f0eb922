"""The command's manners: verbs listed, errors in one line, JSON alone on standard output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from liteshogi.__main__ import VERBS, _run


def liteshogi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "liteshogi", *arguments], capture_output=True, text=True, timeout=250, encoding="utf-8"
    )


def test_help_lists_every_verb_with_what_it_does():
    lines = liteshogi("--help").stdout.splitlines()
    for verb in VERBS:
        (line,) = (line for line in lines if line.startswith(f"  {verb:15s}"))
        assert len(line) > 25, f"{verb} says nothing of itself"


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        _run([*verb.split(), "--help"])
    assert not ended.value.code
    assert "--help" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [("trian",), ("eval", "missing.safetensors", "startpos"), ("perft", "nonsense", "2"), ("perft", "startpos", "99")],
)
def test_errors_are_one_line(arguments):
    done = liteshogi(*arguments)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")


def test_json_is_alone_on_standard_output():
    assert json.loads(liteshogi("perft", "startpos", "3", "--json").stdout)["nodes"] == 25470
    (evaluation,) = json.loads(liteshogi("eval", "default", "startpos", "--json").stdout)
    assert {"sfen", "output", "score_cp", "win_rate"} <= set(evaluation)
    bench = json.loads(liteshogi("bench", "--depth", "5", "--json").stdout)
    assert {"signature", "nodes", "nps"} <= set(bench)


@pytest.mark.parametrize("arguments", [("import", "none.bin", "-o", "net"), ("mate", "--file", "none.bin")])
def test_what_the_system_refuses_begins_with_the_file(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    done = liteshogi(*arguments)
    assert done.returncode == 1
    assert done.stderr == "error: none.bin: no such file or directory\n"
