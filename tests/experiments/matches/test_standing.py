"""The standing of a match: pairs in the order of their numbers, colours, the test."""

from __future__ import annotations

import pytest

from experiments.elo.sprt import Sprt
from experiments.matches.pair import UNEVEN
from experiments.matches.standing import SprtReport, Standing, Tally


def pair(wins: int = 0, draws: int = 0, losses: int = 0):
    """Return the counts of a pair; the first player is black in the first game."""
    names = ["wins"] * wins + ["draws"] * draws + ["losses"] * losses
    return {f"{name} as {colour}": 1 for name, colour in zip(names, ("black", "white"), strict=True)}


def test_pairs_count_in_the_order_of_their_numbers():
    """Won pairs that finish early do not decide until the lost pairs before them are complete."""
    sprt = Sprt(0, 200)
    standing = Standing(100, sprt)
    for number in range(50, 100):
        standing.see(number, pair(wins=2))
    assert not standing.has_enough()
    assert standing.report().games == 0
    for number in range(50):
        standing.see(number, pair(losses=2))
    report = standing.report()
    assert report.sprt.verdict == "elo0"
    assert report.games < 100
    assert report.games + report.games_beyond == 200
    assert report.wins == 0
    assert "the test ended the match, so its Elo is biased toward the side of the verdict" in report.remarks


def test_results_by_colour_and_by_player_are_distinct():
    standing = Standing(5)
    assert standing.total == 10
    for number in range(4):
        standing.see(number, {"wins as black": 1, "losses as white": 1})
    standing.see(4, {"draws as black": 1, "losses as white": 1})
    report = standing.report()
    assert report.black_share == pytest.approx((4 * 2 + 1.5) / 10)
    assert report.pentanomial == (0, 1, 4, 0, 0)
    assert report.points == 4.5
    assert report.elo < 0 < report.black_elo


def test_a_report_has_all_counts():
    """All figures differ, so none can be exchanged for another."""
    test = Sprt(0, 10, 0.05, 0.1)
    standing = Standing(6, test)
    played = {"positions": 30, "nodes": 90, "nodes of first": 60, "nodes of second": 30, "seconds": 1.5}
    called = {"called and played out": 2, "called wrongly": 1, "ended by mate": 2}
    for number in range(4):
        standing.see(number, {"wins as black": 1, "losses as white": 1, **played, **called})
    standing.see(4, {"draws as black": 1, "losses as white": 1, "ended by sennichite": 1, "ended by mate": 1})
    assert standing.total is None
    games, words = standing.measure()
    assert (games, words) == (10, "10 of at most 12 games, Elo -35 +- 169, LLR -0.15 (-2.25 to 2.89)")
    report = standing.report()
    assert report.as_black == Tally(wins=4, draws=1, losses=0)
    assert report.as_white == Tally(wins=0, draws=0, losses=5)
    assert (report.nodes_per_move, report.nodes_per_second) == (3, 60)
    assert (report.nodes_of_first, report.nodes_of_second) == (240, 120)
    assert (report.called_and_played_out, report.called_wrongly) == (8, 4)
    assert list(report.endings.items()) == [("mate", 9), ("sennichite", 1)]
    assert report.elo_low < report.elo < report.elo_high
    assert (report.black_elo_low > 0, report.black_elo_high) == (True, None)
    assert report.remarks == ("of 8 games that the scores would have ended 50.00% +- 17.68% ended otherwise",)
    asked = {"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.1, "lower": test.lower, "upper": test.upper}
    assert report.sprt == SprtReport(**asked, llr=test.ratio(report.pentanomial), verdict="")
    for number in (5, 6, 7):
        standing.see(number, {"wins as black": 1, "wins as white": 1})
    assert (standing.report().games, standing.report().games_beyond) == (12, 4)
    assert standing.report().remarks[-1] == "4 more games are in the folder and are not counted"


def test_openings_beyond_the_balance_are_reported():
    standing = Standing(2)
    for number in range(2):
        standing.see(number, {**pair(wins=2), UNEVEN: 1})
    assert [remark.rpartition(": ")[2] for remark in standing.report().remarks] == ["2"]
