"""Selection of positions to judge: they meet the conditions and do not depend on the number of workers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import pytest

from experiments.games.game_position import read_positions
from experiments.judge import health, selection
from experiments.judge.judge import Judging
from experiments.judge.selection import (
    LEAD,
    POSITIONS,
    TRIES,
    SelectedPosition,
    Selection,
    SelectionTask,
    _found_in_a_row,
    passed,
    position_at,
    read_recorded,
    select_positions,
)
from search.mate.solver import MateSolver, MateStatus
from search.rules.sfen import get_sfen

ROOT = Path(__file__).parents[3]
SAMPLE = (ROOT / "experiments" / "sample" / "valid_sample.hcpe3",)


def test_positions_are_those_of_their_games():
    game = next(read_recorded(SAMPLE))
    for ply in (3, LEAD, len(game.moves)):
        position = position_at(game, ply)
        board = cshogi.Board()
        board.set_hcp(np.frombuffer(game.start, np.uint8).copy())
        for move in game.moves[:ply].tolist():
            board.push(board.move_from_move16(move))
        assert len(position.moves) == min(ply, LEAD)
        assert get_sfen(position.set_up()).split()[:3] == board.sfen().split()[:3]


def test_the_file_depends_only_on_games_and_seed(scripted, tmp_path):
    scripted.answer({"else": ["7g7f", "cp 600"]})
    judging = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers", workers=3)
    selection = Selection(SAMPLE, tmp_path / "one", count=12)
    report = select_positions(selection, judging)
    assert report.positions == 12
    assert len(scripted.asked()) < 100  # the sample has 300 games
    select_positions(replace(selection, output=tmp_path / "two"), replace(judging, workers=1))
    select_positions(replace(selection, output=tmp_path / "three", seed=2), judging)
    one, two, three = (read_positions(tmp_path / name / POSITIONS) for name in ("one", "two", "three"))
    assert one == two != three
    assert len({position.start for position in one}) == 12
    assert (tmp_path / "one" / POSITIONS).read_text() == (tmp_path / "two" / POSITIONS).read_text()
    assert all(cshogi.Board(get_sfen(position.set_up())).legal_moves.__len__() > 1 for position in one)
    asked = scripted.asked()
    assert select_positions(selection, judging) == report
    assert scripted.asked() == asked


def test_positions_count_when_all_earlier_jobs_are_done():
    found = {0: None, 2: "x", 1: "y", 4: "z"}
    assert _found_in_a_row({job: SelectedPosition(job=job, position=text) for job, text in found.items()}) == 2


def test_another_seed_selects_other_games(scripted, tmp_path, monkeypatch):
    taken: list[list[int]] = []
    monkeypatch.setattr(selection, "read_recorded", lambda _: iter(range(9)))
    monkeypatch.setattr(selection, "gather", lambda *given, **_: taken.append([game for _, game in given[3]]) or [])
    monkeypatch.setattr(health, "read_recorded", lambda _: iter(range(9)))
    monkeypatch.setattr(health, "_balanced", lambda game, _: taken[-1].append(game))
    monkeypatch.setattr(health, "_late", lambda game, _: None)
    judging = Judging(judge=scripted.command, answers=tmp_path / "answers")
    for seed in (1, 2):
        with pytest.raises(ValueError, match=r"none of .* games has such a position"):
            select_positions(Selection(SAMPLE, tmp_path / "x", seed=seed), judging)
        taken.append([])
        with pytest.raises(ValueError, match="no balanced position"):
            health.examine(health.HealthOptions("default", SAMPLE, seed=seed, output=tmp_path / "health"))
    assert taken[0] != taken[2]
    assert taken[1] != taken[3]
    assert [sorted(games) for games in taken] == [list(range(9))] * 4


def test_selected_positions_are_balanced_and_have_several_moves(scripted, tmp_path):
    game = next(read_recorded(SAMPLE))  # it has only one legal move at ply 102
    scripted.answer({"else": ["7g7f", "cp 0"]})
    judge = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers").open()
    scores = np.full(len(game.moves), 601, np.int16)

    def found(*balanced: int, **changes: int):
        here = scores.copy()
        here[list(balanced)] = -600
        task = SelectionTask(replace(Selection(SAMPLE, tmp_path / "x", from_ply=30), **changes), judge)
        return task.open().run(replace(game, scores=here)).line.position

    assert found(29, 102) is None
    assert found(29, 30, 102) == position_at(game, 30).text
    plies = range(30, len(game.moves))
    assert found(*plies) != found(*plies, seed=2)
    assert found(*plies) == found(*plies)
    scripted.answer({"else": ["7g7f", "cp 601"]})
    before = len(scripted.asked())
    assert found(*plies, seed=3) is None
    assert len(scripted.asked()) == before + TRIES


def test_positions_that_the_judge_finds_decided_are_not_selected(scripted, tmp_path):
    scripted.answer({"else": ["7g7f", "cp -601"]})
    judging = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers", workers=2)
    with pytest.raises(ValueError, match=r"none of .* games has such a position"):
        select_positions(Selection(SAMPLE, tmp_path / "one", count=12), judging)
    assert not (tmp_path / "one" / POSITIONS).exists()


def test_in_selected_attacks_a_pass_would_be_mated(scripted, tmp_path):
    judging = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers", workers=2)
    select_positions(Selection(SAMPLE, tmp_path / "attack", count=4, attack=True), judging)
    selected = read_positions(tmp_path / "attack" / POSITIONS)
    assert len(selected) == 4
    for position in selected:
        board = cshogi.Board(passed(get_sfen(position.set_up())))
        for usi in MateSolver(4).solve(board.sfen(), nodes=100_000).moves:
            board.push_usi(usi)
        assert board.is_game_over()
        assert board.is_check()


def test_passing_changes_nothing_but_the_turn():
    sfen = cshogi.Board().sfen()
    assert passed(sfen) == sfen.replace(" b ", " w ")
    assert passed(passed(sfen)) == sfen
    assert MateSolver(1).solve(passed(sfen), nodes=10).status is not MateStatus.MATE


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 0}, "`count` 0: must be at least 1"),
        ({"from_ply": 3}, "`from_ply` 3: must be at least 16"),
        ({"games": (ROOT / "tests" / "data" / "README.md",)}, "README.md"),
        ({"games": (Path("positions.hcpe"),)}, r"positions\.hcpe: holds positions without the moves"),
    ],
)
def test_invalid_selections_are_refused(changes, words, scripted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("positions.hcpe").write_bytes(bytes(38))
    judging = Judging(judge=scripted.command, answers=tmp_path / "answers")
    with pytest.raises(ValueError, match=words):
        select_positions(replace(Selection(SAMPLE, tmp_path / "x"), **changes), judging)
