"""Scores of searches, compared with a teacher's and with those of repeated searches."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import cshogi
import numpy as np
import pytest

from experiments.games.game_position import GamePosition
from experiments.judge.choosers import OwnChooser, read_judged
from experiments.judge.health import LATE, HealthOptions, HealthTask, _balanced, _late, examine
from experiments.judge.health_report import BalancedSearches, SearchedAgain, _again, _by_nodes, _steps
from experiments.judge.selection import LEAD, position_at, read_recorded
from experiments.judge.statistics import CLIP
from liteshogi.commands.judge.health import as_text
from search.alphabeta.parameters import STEPS
from search.rules.sfen import get_sfen
from search.score import MATE, is_mate

ROOT = Path(__file__).parents[3]
SAMPLE = (ROOT / "experiments" / "sample" / "valid_sample.hcpe3",)
OPTIONS = HealthOptions("default", SAMPLE, nodes=(100, 900), long_nodes=900, count=8, workers=2)


@pytest.fixture
def options(tmp_path) -> HealthOptions:
    return replace(OPTIONS, output=tmp_path / "health")


def test_a_long_search_agrees_with_itself(options, tmp_path):
    report = examine(options)
    assert [variant.name for variant in report.variants] == ["as it is"]
    short, long = report.variants[0].nodes
    assert (report.positions, long.as_long, short.nodes, long.nodes) == (8, 1.0, 100, 900)
    assert short.as_long < 1
    assert abs(report.teacher.mean) <= OPTIONS.balance
    assert examine(options) == report
    assert examine(replace(options, workers=1, output=tmp_path / "one")) == report
    text = as_text(report)
    assert "teacher's sign" in text
    assert f"{report.again.mates_as_short} of them in at most as many plies" in text


def test_balanced_positions_are_balanced():
    found = [(game, one) for game in islice(read_recorded(SAMPLE), 60) if (one := _balanced(game, OPTIONS)) is not None]
    assert len(found) > 8
    assert [game.number for game, _ in found] == sorted({game.number for game, _ in found})
    for game, (position, score) in found:
        board = cshogi.Board(get_sfen(position.set_up()))
        ply = next(ply for ply in range(len(game.moves)) if position_at(game, ply) == position)
        move = board.move_from_move16(int(game.moves[ply]))
        assert not board.is_check()
        assert 0 < abs(score) <= OPTIONS.balance
        assert score == game.scores[ply]
        assert ply >= LEAD
        assert not cshogi.move_is_promotion(move)
        assert cshogi.move_is_drop(move) or board.piece(cshogi.move_to(move)) == cshogi.NONE


def test_late_positions_are_near_the_end_of_a_game():
    game = next(read_recorded(SAMPLE))
    end = len(game.moves)
    late = [position_at(game, ply) for ply in range(end - LATE, end)]
    drawn: list[list[int]] = []
    for seed in (1, 2):
        taken = [_late(replace(game, number=number), replace(OPTIONS, seed=seed)) for number in range(99)]
        drawn.append([late.index(one[0]) for one in taken if one is not None])
    assert drawn[0] != drawn[1]
    assert {min(drawn[0]), max(drawn[0])} == {0, LATE - 1}
    assert _late(replace(game, moves=game.moves[:LEAD]), OPTIONS) is None
    balanced = [_balanced(game, replace(OPTIONS, seed=seed)) for seed in range(5)]
    assert len({one[0].text for one in balanced if one is not None}) > 1


def test_figures_of_scores_by_hand():
    found = [[(40, "a"), (9000, "b")], [(0, "a"), (-100, "a")], [(-20, "c"), (-100, "c")]]
    made = [BalancedSearches(job=0, found=(), long_move=move, depths=()) for move in "bac"]
    short, long = _by_nodes((10, 20), found, made, np.array([100.0, -60.0, -120.0]))
    assert (short.mean, long.mean) == (6.7, round((CLIP - 200) / 3, 1))
    assert (short.positive, short.sign_accuracy, short.as_long) == (0.3333, 0.6667, 0.6667)
    assert (long.positive, long.sign_accuracy, long.as_long) == (0.3333, 1.0, 1.0)
    assert short.rmse == round(((60**2 + 60**2 + 100**2) / 3) ** 0.5, 1)


def test_steps_are_left_out_and_other_engines_are_examined(options, opponent, tmp_path):
    options = replace(options, count=2, nodes=(900,), each_step=True)
    report = examine(options)
    names = [variant.name for variant in report.variants]
    assert names == ["as it is", *(f"without {step}" for step in STEPS)]
    place = STEPS.index("reverse futility")
    skipped = replace(options, each_step=False, option=("skip_reverse_futility=true",), output=tmp_path / "alone")
    left_out, whole = report.variants[place + 1].nodes[0], report.variants[0].nodes[0]
    assert examine(skipped).variants[0].nodes[0].rmse == left_out.rmse != whole.rmse
    opponent.answer({"else": ["7g7f", "cp 55 nodes 3"]})
    report = examine(replace(OPTIONS, engine=opponent.command, count=2, output=tmp_path / "other"))
    assert [row.mean for row in report.variants[0].nodes] == [55.0, 55.0]


def test_a_mate_is_searched_again_with_and_without_its_table():
    mate = GamePosition.parse("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")
    row = HealthTask(read_judged("default", (), 500, False), (500,), 900).open()._search_again(mate)
    assert (row.first, row.again, row.afresh, row.move) == (MATE - 1, MATE - 1, MATE - 1, "G*5b")
    assert is_mate(row.first)


def test_a_mate_is_searched_longer_with_an_empty_table(monkeypatch):
    position, calls = GamePosition.parse("startpos"), []
    search, forget = OwnChooser.search, OwnChooser.forget

    def searched(self, position, nodes):
        calls.append(nodes)
        return replace(search(self, position, nodes), score=MATE - 3)

    monkeypatch.setattr(OwnChooser, "search", searched)
    monkeypatch.setattr(OwnChooser, "forget", lambda self, variant: calls.append("forgets") or forget(self, variant))
    HealthTask(read_judged("default", (), 9, False), (5, 9), 20).open()._search_again(position)
    assert calls == ["forgets", 9, 9, "forgets", 20]


def test_lost_mates_and_draws_are_counted_and_listed():
    rows = [
        ("a", MATE - 5, MATE - 5, MATE - 3, "x"),
        ("b", 5 - MATE, 7 - MATE, 40, "x"),
        ("c", 0, 0, 0, "x"),
        ("d", CLIP - 20, 9000, 90, "y"),
        ("e", 0, 30, 0, "x"),
        ("f", MATE - 5, 3 - MATE, MATE - 5, "x"),
    ]
    found = _again(
        [
            SearchedAgain(job=0, position=name, first=first, again=again, afresh=afresh, move="x", again_move=move)
            for name, first, again, afresh, move in rows
        ]
    )
    assert (found.mates, found.mates_kept, found.mates_as_short, found.mates_found_afresh) == (3, 2, 1, 2)
    assert [row.position for row in found.lost] == ["b", "f"]
    assert (found.draws, found.draws_kept, found.others, found.moves_kept) == (2, 1, 1, 0)
    assert found.change == (20.0, None)


def test_changes_by_depth_end_where_half_of_the_searches_end():
    traces = [list(enumerate(scores, 1)) for scores in ([0, 0, 0, 50, 10], [0, 0, 0, 30, 20], [0, 0, 0, 40])]
    found = list(_steps(traces))
    assert [(row.to_depth, row.mean, row.size) for row in found] == [(4, 40.0, 40.0), (5, -25.0, 25.0)]
    assert list(_steps([trace[2:] for trace in traces])) == found
    assert next(_steps([[(3, CLIP - 10), (4, 9000)]])).mean == 10
    assert not list(_steps([trace[:3] + trace[4:] for trace in traces]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 0}, "must be at least 1"),
        ({"nodes": (900, 100)}, "`nodes` 900 100: must rise"),
        ({"nodes": (100, 100)}, "`nodes` 100 100: must rise"),
        ({"long_nodes": 800}, "`long_nodes` 800: must be at least 900"),
        ({"option": ("skip_nothing=true",)}, "`option` skip_nothing"),
        ({"games": (ROOT / "tests" / "data" / "README.md",)}, "README.md"),
    ],
)
def test_invalid_options_are_refused(changes, words, options):
    with pytest.raises(ValueError, match=words):
        examine(replace(options, **changes))
