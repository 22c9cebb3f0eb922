"""Repeated positions in an analysis: only the fourth occurrence ends a game."""

from __future__ import annotations

import pytest

from experiments.analyse.analyse import Analysing, analyse_games


@pytest.mark.parametrize(
    ("line", "mate", "rate"),
    [
        ("startpos moves" + 3 * " 4i4h 4a4b 4h4i 4b4a", None, 0.5),
        ("sfen 5k3/9/9/9/9/9/9/4R4/8K b - 1 moves 5h4h" + 3 * " 4a5a 4h5h 5a4a 5h4h", 0, 0.0),
    ],
)
def test_the_rule_judges_the_fourth_occurrence(tmp_path, line, mate, rate):
    source, output = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text(line + "\n")
    (report,) = analyse_games(Analysing("default", (source,), output, nodes=300, multipv=2, hash_mb=4)).games
    last = report.figures.moves[-1]
    assert (last.score, last.mate, last.win_rate) == (None if mate is not None else 0, mate, rate)
    assert (last.depth, last.line, last.others) == (0, (), ())
    assert report.figures.moves[-3].depth > 0
    assert "*#読み筋=\n" not in output.read_text(encoding="utf-8")


CHECKS = "sfen 8k/9/9/9/9/9/9/1R7/K8 b BGSr 1 moves 8h1h 1a2a" + 2 * " 1h2h 2a1a 2h1h 1a2a"


@pytest.mark.parametrize(
    "line",
    [
        CHECKS + " 1h1c+",
        "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b RB 1"
        " moves 2h3h 5a4b 3h2h 4b5a 2h3h 5a4b 3h2h 4b5a 2g2f 5a4b 2h3h 4b5a 3h2h",
    ],
)
def test_fewer_than_four_occurrences_are_neither_lost_nor_drawn(tmp_path, line):
    source, output = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text(line + "\n")
    (report,) = analyse_games(Analysing("default", (source,), output, nodes=3000, hash_mb=4)).games
    assert all(row.win_rate > 0.9 and row.loss < 0.1 for row in report.figures.moves)


def test_the_search_sees_a_future_fourth_occurrence(tmp_path):
    source, output = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text(CHECKS + " 1h2h 2a1a 2h1h 1a2a\n")
    (report,) = analyse_games(Analysing("default", (source,), output, nodes=3000, hash_mb=4)).games
    assert [row.mate for row in report.figures.moves[-3:]] == [1, -1, 0]
    assert report.figures.moves[-2].mark == "blunder"
