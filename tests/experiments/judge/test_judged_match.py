"""Matches of unfinished games that a judge scores: scores count for the correct side, and runs are resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.elo.strength import student
from experiments.jobs.protocol import Stopped
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedMatch, Shares, SharesReport, play_judged_match
from experiments.judge.statistics import CLIP
from experiments.report.judged_match_section import judged_match_section
from experiments.report.match_section import RATE
from experiments.report.report import Report, read_sections, write_report
from experiments.report.section import Run
from experiments.report.verify import SAME, verify
from lite.run_folder import RECORD, RESULTS, read_run
from liteshogi.commands.judge.match import as_text
from search.alphabeta.bench import SIGNATURE
from search.evaluation.shipped import network_file
from search.score import win_rate

LINES = (
    "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b",
    "startpos moves 7g7f 8c8d 7i6h 3c3d 6g6f 7a6b",
    "startpos moves 2g2f 8c8d 2f2e 8d8e",
)
MATED = "4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1"


@pytest.fixture
def openings(tmp_path) -> Path:
    path = tmp_path / "openings.sfen"
    path.write_text("\n".join(LINES))
    return path


@pytest.fixture
def match(openings, tmp_path) -> JudgedMatch:
    return JudgedMatch("default", "default", openings, nodes=200, plies=7, games=6, output=tmp_path / "run")


def judged_by(scripted, tmp_path, workers: int = 2) -> Judging:
    return Judging(scripted.command, judge_nodes=500, answers=tmp_path / "answers", workers=workers)


def run_of(match: JudgedMatch) -> Run:
    return Run("run", match.output, read_run(match.output))


@pytest.mark.parametrize(("answer", "score"), [("cp 300", 300), ("mate 9", CLIP)])
def test_the_score_of_the_judge_counts_for_the_side_to_move(match, scripted, tmp_path, answer, score):
    """After seven plies white is to move, so the judge's 300 belong to white in both games of a pair."""
    scripted.answer({"else": ["resign", answer]})
    play_judged_match(replace(match, games=2), judged_by(scripted, tmp_path))
    counts = json.loads((match.output / RESULTS).read_text())["counts"]
    assert counts["share as black"] == pytest.approx(1 - win_rate(score), abs=1e-6)
    assert counts["share as white"] == pytest.approx(win_rate(score), abs=1e-6)
    assert len(scripted.asked()) == 1  # both games of the pair are equal
    assert scripted.asked()[0].endswith("go nodes 500")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_cluster_gives_the_results_of_threads_and_its_answers_are_stored(match, scripted, cluster, tmp_path):
    scripted.answer({"else": ["resign", "cp 300"]})
    there = replace(judged_by(scripted, tmp_path), ray=cluster.address)
    on_cluster = play_judged_match(replace(match, output=tmp_path / "there"), there)
    asked = len(scripted.asked())
    here = play_judged_match(match, judged_by(scripted, tmp_path))
    assert here == on_cluster
    assert len(scripted.asked()) == asked > 0, "the answers of the cluster were not stored"


def test_equal_players_score_half_and_swapped_players_the_complement(match, tmp_path, known_judge):
    judging = Judging("liteshogi", ("USI_Hash=16",), judge_nodes=300, answers=tmp_path / "answers", workers=2)
    level = play_judged_match(match, judging)
    assert (level.share, level.share_error, level.games, level.pairs) == (0.5, 0.0, 6, 3)
    changed = "changed=default futility_margin=250"
    one = play_judged_match(replace(match, first=changed, output=tmp_path / "one"), judging)
    other = play_judged_match(replace(match, second=changed, output=tmp_path / "other"), judging)
    assert one.share == pytest.approx(1 - other.share, abs=2e-4)
    assert one.share != 0.5
    assert one.share_error == pytest.approx(other.share_error, abs=2e-4)
    assert f"{one.share:.3f} +- {one.share_error:.3f}" in as_text(one)
    assert (one.first, other.second) == ("changed", "changed")


def test_networks_of_one_file_name_are_named_by_their_folders(match, scripted, tmp_path):
    nets = [tmp_path / folder / "net.safetensors" for folder in ("old", "new")]
    for net in nets:
        net.parent.mkdir()
        net.write_bytes(network_file("default").read_bytes())
    match = replace(match, first=str(nets[0]), second=str(nets[1]), games=2)
    report = play_judged_match(match, judged_by(scripted, tmp_path))
    assert [report.first, report.second] == [f"{net} (200 nodes)" for net in nets]
    assert read_run(match.output).goal["players"] == [report.first, report.second]


def test_the_error_is_the_standard_error_of_the_pairs():
    shares = Shares(3)
    for number, (black, white, ended) in enumerate(((0.5, 0.7, 0), (0.2, 0.4, 1), (0.9, 0.9, 2), (0.1, 0.1, 2))):
        shares.see(number, {"share as black": black, "share as white": white, "ended": ended})
        if number == 1:
            assert shares.report().share_error == 0.15
    error = round(float(np.std([0.6, 0.3, 0.9], ddof=1)) / 3**0.5, 4)
    assert shares.report() == SharesReport(games=6, pairs=3, share=0.6, share_error=error, ended=3)


def test_the_first_player_has_the_first_options(match, scripted, tmp_path, monkeypatch):
    tasks = []
    monkeypatch.setattr("experiments.judge.judged_match.produce", lambda *given, **_: tasks.append(given[2]))
    monkeypatch.setattr(Shares, "report", lambda self: SharesReport(0, 0, 0.5, None, 0))
    match = replace(match, first="default futility_margin=250", seed=5)
    play_judged_match(match, judged_by(scripted, tmp_path))
    (task,) = tasks
    assert (dict(task.first.parameters), dict(task.second.parameters)) == ({"futility_margin": 250}, {})
    assert (task.plies, task.seed) == (7, 5)
    worker = task.open()
    worker.stop()
    with pytest.raises(Stopped):
        worker.run(0)


def test_a_match_is_resumed_and_extended(match, scripted, tmp_path):
    scripted.answer({"else": ["resign", "cp 100"]})
    judging = judged_by(scripted, tmp_path)
    one = play_judged_match(replace(match, games=2), judging)
    assert (one.games, one.share_error) == (2, None)
    assert f"{one.share:.3f} (one pair) of win rate" in as_text(one)
    before = (match.output / RESULTS).read_text()
    assert play_judged_match(match, judging).games == 6
    assert (match.output / RESULTS).read_text().startswith(before)
    assert play_judged_match(replace(match, games=2), judging).games == 2  # further games do not count
    record = read_run(match.output)
    assert set(record.options) == {"openings", "nodes", "plies", "seed", "first", "second", "judge_nodes"}
    assert set(record.conditions) == {"judge", "signature"}
    with pytest.raises(ValueError, match="`plies` 7, not 8"):
        play_judged_match(replace(match, plies=8), judging)
    other = replace(judging, judge_option=("Style=wild",), answers=tmp_path / "other")
    with pytest.raises(ValueError, match=r"another judge: options Style .*, not .*wild"):
        play_judged_match(match, other)


def test_another_search_or_network_cannot_resume_a_match(match, scripted, tmp_path, monkeypatch):
    scripted.answer({"else": ["resign", "cp 100"]})
    judging, net = judged_by(scripted, tmp_path), tmp_path / "net.safetensors"
    net.write_bytes(network_file("default").read_bytes())
    match = replace(match, second=str(net), games=2)
    play_judged_match(match, judging)
    with monkeypatch.context() as patch:
        patch.setattr("experiments.matches.named_player.search_signature", lambda: SIGNATURE + 1)
        with pytest.raises(ValueError, match=rf"another signature: {SIGNATURE}, not {SIGNATURE + 1}; "):
            play_judged_match(match, judging)
    path = match.output / RECORD
    whole = path.read_text()
    found = json.loads(whole)
    del found["conditions"]["signature"]
    path.write_text(json.dumps(found))
    with pytest.raises(ValueError, match=f"another signature: null, not {SIGNATURE}"):
        play_judged_match(match, judging)
    path.write_text(whole)
    (tmp_path / "elsewhere").mkdir()
    net = net.rename(tmp_path / "elsewhere" / net.name)
    assert play_judged_match(replace(match, second=str(net)), judging).games == 2
    net.write_bytes(network_file("dense-64-16").read_bytes())
    match = replace(match, second=str(net))
    with pytest.raises(ValueError, match=r"other nets: default .*, net\.safetensors .*, not .*; .* another folder"):
        play_judged_match(match, judging)


def test_a_report_shows_a_judged_match(match, scripted, tmp_path):
    scripted.answer({"else": ["resign", "cp 100"]})
    match = replace(match, first="mine=default futility_margin=250", games=2)
    play_judged_match(match, judged_by(scripted, tmp_path))
    (row,) = judged_match_section([run_of(match)]).charts[0].spec["data"]["values"]
    assert f"{RATE} from" not in row  # one pair has no error
    report = play_judged_match(replace(match, games=6), judged_by(scripted, tmp_path))
    write_report(Report((match.output,), tmp_path / "page.html"))
    assert "<h2>Judged matches</h2>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    section = judged_match_section([run_of(match)])
    (row,) = section.charts[0].spec["data"]["values"]
    share, error = report.share, report.share_error
    assert (row[RATE], row["games"]) == (pytest.approx(share, abs=1e-4), 6)
    assert row[f"{RATE} to"] - row[RATE] == pytest.approx(student(report.pairs - 1) * error, abs=1e-3)
    (line,) = section.tables[0].lines
    assert line[1:3] == [report.first, report.second] == ["mine", "default (200 nodes)"]
    assert line[3:8] == ["Scripted, 500 nodes", "7", "6", "0", f"{share:.3f} +- {error:.3f}"]
    assert section.origins[0].command.startswith("judge match from Python: openings=3, nodes=200, plies=7")
    assert {check.state for check in verify([match.output])} == {SAME}
    play_judged_match(replace(match, games=4), judged_by(scripted, tmp_path))
    assert judged_match_section([run_of(match)]).tables[0].lines[0][5] == "4"  # further games do not count


def test_a_report_shows_an_empty_match_and_refuses_a_damaged_one(match, scripted, tmp_path):
    play_judged_match(replace(match, games=2), judged_by(scripted, tmp_path))
    ledger, description = match.output / RESULTS, match.output / RECORD
    ledger.write_text("")
    section = judged_match_section([run_of(match)])
    assert (section.charts, section.tables[0].lines[0][5:8]) == ([], ["0", "0", "no pair yet"])
    whole = json.loads(description.read_text())
    description.write_text(json.dumps(whole | {"options": {"first": "default"}}))
    with pytest.raises(ValueError, match=r"run: cannot be shown .*; leave it out"):
        read_sections([run_of(match)])


@pytest.mark.parametrize("plies", [7, 1])
def test_games_that_end_earlier_count_by_their_result(match, scripted, tmp_path, plies):
    """Games that the last ply mates also count by their result."""
    match.openings.write_text(MATED)
    scripted.answer({"else": ["resign", "cp 0"]})
    report = play_judged_match(replace(match, games=2, plies=plies), judged_by(scripted, tmp_path))
    assert (report.ended, report.share) == (2, 0.5)
    counts = json.loads((match.output / RESULTS).read_text())["counts"]
    assert (counts["share as black"], counts["share as white"]) == (1, 0)  # a mate found by the judge would count less
    assert not scripted.asked()


def test_invalid_matches_are_refused(match, scripted, tmp_path):
    scripted.answer({"else": ["resign", "cp 0"]})
    judging = judged_by(scripted, tmp_path)
    for changes, words in (
        ({"plies": 0}, "`plies` 0"),
        ({"games": 3}, "`games` 3"),
        ({"games": 8}, "3 openings, enough for 6 games.* give more openings"),
        ({"nodes": 0}, "`nodes`"),
        ({"first": "none.safetensors"}, "none.safetensors: there is no such network"),
        ({"first": "default razor=1"}, "did you mean"),
        ({"seed": -1}, "`seed` -1"),
        ({"output": match.openings}, "openings.sfen"),
    ):
        with pytest.raises((ValueError, OSError), match=words):
            play_judged_match(replace(match, **changes), judging)
    assert not judging.answers.exists()
    assert not match.output.exists()
