"""From when on a refutation is seen."""

from __future__ import annotations

import json
import signal

import pytest

from experiments.judge.choosers import OwnChooser
from experiments.judge.refutations import RefutationOptions, find_refutations, seen_from
from liteshogi.commands.judge.refutations import as_text
from search.alphabeta.parameters import STEPS

HANGING = "startpos moves 7g7f 3c3d"
"""8h5e gives a bishop away, to 2b5e."""


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
def test_what_is_seen_once_and_lost_again_is_not_seen(trace, nodes):
    assert seen_from([(depth, *found) for depth, found in enumerate(trace, 1)], 70.0) == nodes


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.json"
    row = {"position": HANGING, "sfen": "x", "best": 60, "moves": ["8h5e"], "scores": [-2500], "replies": ["2b5e"]}
    path.write_text(json.dumps({"worst": [row | {"losses": [960]}]}))
    return path


def test_a_hanging_bishop_is_seen_at_once(report, scripted, monkeypatch):
    """The judge's score is cut at 1,500, so more than 720 is nearer to it than to the best move's 60."""
    variants, forget = [], OwnChooser.forget
    monkeypatch.setattr(OwnChooser, "forget", lambda self, variant: variants.append(variant) or forget(self, variant))
    found = find_refutations(RefutationOptions("default", report, most_nodes=2000, each_step=True))
    assert found["nodes"] == [1000, 2000]
    assert len(found["variants"]) == len(STEPS) + 1
    assert variants == list(range(len(STEPS) + 1))
    assert found["engine"] == "default (2000 nodes)"
    assert found["variants"][0] == {"name": "as it is", "seen": [1, 1]}
    assert 0 < found["moves"][0]["seen_from"][0] < 1000
    assert "8h5e" in as_text(found)
    scripted.answer({"else": ["2b5e", "cp 719 nodes 1000"]})
    other = find_refutations(RefutationOptions(scripted.command, report, most_nodes=1000))
    assert other["moves"][0]["seen_from"] == [None]
    scripted.answer({f"{HANGING} 8h5e": ["2b5e", "cp 720 nodes 1000"]})
    other = find_refutations(RefutationOptions(scripted.command, report, most_nodes=1000))
    assert other["moves"][0]["seen_from"] == [1000]
    assert other["variants"][0]["seen"] == [1]


def test_a_run_that_keeps_nothing_is_not_said_to_go_on(report, monkeypatch, capsys):
    monkeypatch.setattr("experiments.jobs.crew.run_jobs", lambda *_: (signal.raise_signal(signal.SIGINT) for _ in [0]))
    with pytest.raises(KeyboardInterrupt):
        find_refutations(RefutationOptions("default", report, most_nodes=5))
    assert "to go on" not in capsys.readouterr().err


def test_what_is_no_report_is_told_in_words(report, tmp_path):
    resigned = json.dumps({"worst": [json.loads(report.read_text())["worst"][0] | {"moves": ["resign"]}]})
    empty = resigned.replace('"resign"', "")
    for content, words in (
        ("[]", "no report of losses"),
        (empty, "no report of losses"),
        ('{"worst": []}', "no move that loses"),
        (resigned, "no move that loses"),
    ):
        report.write_text(content)
        with pytest.raises(ValueError, match=words):
            find_refutations(RefutationOptions("default", report))
