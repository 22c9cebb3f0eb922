"""Tests that run every command of the README and the documents, in a folder with the files that they name."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cshogi
import pytest
from cshogi import KIF

from tests.end_to_end.documents import DOCUMENTS, PROGRAM, ROOT, blocks_of, named

SAMPLE = "experiments/sample/valid_sample.hcpe3"
TSUME = "7k1/9/6G2/9/9/9/9/9/9 b G2r2b2g4s4n4l18p 1"
OPENINGS = (
    "startpos moves 7g7f 3c3d",
    "startpos moves 2g2f 8c8d",
    "startpos moves 7g7f 8c8d",
    "startpos moves 5g5f 5c5d",
)
TRAINING = {"kind": "dense", "width": 8, "hidden": [8], "perspectives": 2, "batch-size": 64, "epochs": 1}
SWEEP = """
[train]
kind = "dense"
data = ["train.hcpe3"]
perspectives = 2
hidden = 8
batch-size = 64
[measure]
valid = ["valid.hcpe3"]
yardstick = ["yard"]
repeats = 1
[[space]]
width = [32, 64]
"""
PLAN = """
[measure]
valid = ["valid.hcpe3"]
yardstick = ["yard"]
residual = "valid.hcpe3"
repeats = 0
[play]
who = "named"
by = ["nodes"]
nodes = 20
games = 2
[table.batches]
[data."some.hcpe"]
cut = ["train.hcpe"]
positions = 300
[[point]]
name = "small"
kind = "dense"
width = 32
hidden = [8]
batch-size = 64
epochs = 1
data = ["some.hcpe"]
games = true
"""
PAGE = "# A page\n\n<!-- table batches -->\n<!-- end -->\n"
MAIN = """
import pickle
from experiments.sweep import isolated, timing
timing.MOST_NODES, timing.MOST_RUNS, timing.SPEED_NODES = 2_000, 1, 500
def run_here(self, step):
    return pickle.loads(pickle.dumps(step)).run()
isolated.Isolated.run = run_here
from liteshogi.__main__ import main
main()
"""
"""The program, with one timing per network in place of several that must agree, and a sweep's steps in its own process:
a process of its own takes each step seconds to begin."""


def run(words: list[str], folder: Path) -> None:
    """Run a command line as a user types it."""
    program, *rest = words
    assert program in (PROGRAM, "python"), shlex.join(words)
    command = [sys.executable, *(["-P", "-c", MAIN] if program == PROGRAM else []), *rest]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory, nnue_content: Callable[..., bytes]) -> Path:
    """Make a folder with small games, records, openings, networks and an engine under the names that documents use."""
    folder = tmp_path_factory.mktemp("example_folder")
    for name in ("experiments", "tests"):
        (folder / name).symlink_to(ROOT / name)
    data = ROOT / "tests" / "data"
    (folder / "games").mkdir()
    for source, name in (("scored.csa", "games/a.csa"), ("wcsc28.ki2", "games/b.ki2"), ("wcsc28.kif", "game.kif")):
        shutil.copy(data / source, folder / name)
    (folder / "tsume.kif").write_text(KIF.board_to_bod(cshogi.Board(TSUME)), encoding="utf-8")
    for name in ("taya36.sfen", "records2016_ply24.sfen", "OPENINGS"):
        (folder / name).write_text("".join(f"{opening}\n" for opening in OPENINGS))
    for name in ("small.json", "config.json", "fine.json"):
        (folder / name).write_text(json.dumps(TRAINING))
    for name, text in (("mine.toml", SWEEP), ("sweep.toml", SWEEP), ("plan.toml", PLAN), ("page.md", PAGE)):
        (folder / name).write_text(text)
    engine = folder / "engine"
    engine.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {PROGRAM}\n")
    engine.chmod(0o755)
    (folder / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 8))
    for words in (
        f"convert {SAMPLE} -o there/sample.hcpe3 --test-share 0.1",
        "convert there/sample.test.hcpe3 -o there/all.hcpe3 --test-share 0.3 --seed 2",
        "convert there/all.train.hcpe3 -o train.hcpe",
        "expand there/all.test.hcpe3 -o yard --label search --nodes 2 --played 0.1 --random 0",
        "train lite there/all.train.hcpe3 --valid there/all.test.hcpe3 -o runs/there --max-steps 3 --batch-size 64",
    ):
        run([PROGRAM, *words.split()], folder)
    for source, name in (
        ("sample.test.hcpe3", "games.hcpe3"),
        ("all.test.hcpe3", "valid.hcpe3"),
        *(("all.train.hcpe3", name) for name in ("train.hcpe3", "train-00.hcpe3", "teacher-300k.hcpe3")),
    ):
        shutil.copy(folder / "there" / source, folder / name)
    (folder / "FOLDER").mkdir()
    for name in ("train.hcpe", "valid.hcpe3", "yard", "nn.bin", "taya36.sfen"):
        (folder / "FOLDER" / name).symlink_to(folder / name)
    return folder


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_block_is_marked_as_run_or_not_run(path: Path) -> None:
    for block in blocks_of(path):
        assert block.mark is not None, f"<!-- run --> or <!-- not run: why --> is missing above\n{block.script}"
        assert block.mark == "run" or block.words.strip(), f"<!-- not run: why -->, of\n{block.script}"
        there = {word for command in block.commands() for word in command}
        assert block.mark != "run" or set(block.replacements) <= there, f"no such word in the block\n{block.script}"
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    program = "(liteshogi|make|pip|python|pytest) "
    lines = re.search(rf"^ {{4}}{program}.*|^`{program}[^`\n]*`$", prose, re.MULTILINE)
    hidden = lines or re.search(rf"^```(?!sh$)\w*\n{program}.*", text, re.MULTILINE)
    assert hidden is None, f"commands outside blocks of ```sh are not tested: {hidden}"


RUNNING = [path for path in DOCUMENTS if any(block.mark == "run" for block in blocks_of(path))]


@pytest.mark.slow
@pytest.mark.timeout(3600)  # some minutes on free cores with nothing compiled yet
@pytest.mark.parametrize("path", RUNNING, ids=named)
def test_the_commands_of_a_document_run_one_after_the_other(path: Path, example_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(example_folder, folder, symlinks=True)
    for block in blocks_of(path):
        for words in block.to_run() if block.mark == "run" else ():
            run(words, folder)
