"""The number of nodes from which a search sees a refutation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.judge.choosers import OwnChooser
from experiments.judge.losses import VERB as JUDGED
from experiments.judge.losses import JudgedPosition
from experiments.judge.refutations import RefutationOptions, SeenCount, find_refutations, seen_from
from lite.run_folder import RunPlan, RunWriter
from liteshogi.commands.judge.refutations import as_text
from search.alphabeta.parameters import STEPS

HANGING = "startpos moves 7g7f 3c3d"
"""In this position 8h5e loses a bishop to 2b5e."""


@pytest.mark.parametrize(
    ("trace", "nodes"),
    [
        ([(5, 0), (9, 80), (20, 120), (40, 90)], 9),
        ([(5, 80), (9, 10), (20, 90)], 20),
        ([(5, 80), (9, 10)], None),
        ([(5, 31_990)], 5),
        ([], None),
    ],
)
def test_a_refutation_counts_from_where_it_is_seen_to_the_end(trace, nodes):
    assert seen_from([(depth, *found) for depth, found in enumerate(trace, 1)], 70.0) == nodes


LOSS = JudgedPosition(
    job=0,
    position=HANGING,
    sfen="x",
    best_move="2g2f",
    best=60,
    moves=("8h5e",),
    scores=(-2500,),
    replies=("2b5e",),
    losses=(960,),
)


def judged(folder: Path, *lines: JudgedPosition, verb: str = JUDGED) -> Path:
    with RunWriter(folder, RunPlan(verb)) as run:
        for line in lines:
            run.append(line)
    return folder


@pytest.fixture
def report(tmp_path) -> Path:
    return judged(tmp_path / "judged", LOSS)


def test_a_hanging_bishop_is_seen_within_a_thousand_nodes(report, scripted, monkeypatch, tmp_path):
    """The judge's score is cut at 1,500, so more than 720 is nearer to it than to the best move's 60."""
    variants, forget = [], OwnChooser.forget
    monkeypatch.setattr(OwnChooser, "forget", lambda self, variant: variants.append(variant) or forget(self, variant))
    options = RefutationOptions("default", report, most_nodes=2000, each_step=True, output=tmp_path / "all")
    found = find_refutations(options)
    assert find_refutations(options) == found  # no search is repeated
    assert found.nodes == (1000, 2000)
    assert len(found.variants) == len(STEPS) + 1
    assert variants == list(range(len(STEPS) + 1))
    assert found.engine == "default (2000 nodes)"
    assert found.variants[0] == SeenCount("as it is", (1, 1))
    assert 0 < found.moves[0].seen_from[0] < 1000
    assert "8h5e" in as_text(found)
    scripted.answer({"else": ["2b5e", "cp 719 nodes 1000"]})
    other = find_refutations(RefutationOptions(scripted.command, report, most_nodes=1000, output=tmp_path / "one"))
    assert other.moves[0].seen_from == (None,)
    scripted.answer({f"{HANGING} 8h5e": ["2b5e", "cp 720 nodes 1000"]})
    other = find_refutations(RefutationOptions(scripted.command, report, most_nodes=1000, output=tmp_path / "two"))
    assert other.moves[0].seen_from == (1000,)
    assert other.variants[0].seen == (1,)


def test_folders_of_other_runs_are_refused(tmp_path):
    for number, (line, verb, words) in enumerate(
        (
            (LOSS, "match", "`judged` .*: a run of match; name a folder of judge moves"),
            (replace(LOSS, moves=()), JUDGED, "job 0: its moves, scores, replies and losses do not match"),
            (replace(LOSS, losses=(0,)), JUDGED, "has no move that loses"),
            (replace(LOSS, moves=("resign",)), JUDGED, "has no move that loses"),
        )
    ):
        folder = judged(tmp_path / str(number), line, verb=verb)
        with pytest.raises(ValueError, match=words):
            find_refutations(RefutationOptions("default", folder, output=tmp_path / "run"))
    with pytest.raises(ValueError, match="no run folder"):
        find_refutations(RefutationOptions("default", tmp_path, output=tmp_path / "run"))
