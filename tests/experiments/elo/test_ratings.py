"""Ratings compared with published ones, and properties of every league."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.elo.ratings import ELO, Meeting, rate
from experiments.elo.strength import measure_strength, unmet_share
from experiments.league.ratings_table import meetings_text, standings, table_text


def meeting(first: int, second: int, wins: int, losses: int, draws: int = 0) -> Meeting:
    """Return a meeting of single games."""
    points = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return Meeting(first, second, tuple((one, 1) for one in points), draws)


BASEBALL = {
    # A. Agresti, "Categorical Data Analysis", the American League East of 1987: wins of a team over those below.
    "Milwaukee": (7, 9, 7, 7, 9, 11),
    "Detroit": (7, 5, 11, 9, 9),
    "Toronto": (7, 7, 8, 12),
    "New York": (6, 7, 10),
    "Boston": (7, 12),
    "Cleveland": (6,),
    "Baltimore": (),
}


def test_the_ratings_of_a_textbook_are_reproduced():
    names = list(BASEBALL)
    meetings = [
        meeting(first, first + 1 + place, wins, 13 - wins)
        for first, name in enumerate(names)
        for place, wins in enumerate(BASEBALL[name])
    ]
    ratings = rate(len(names), meetings)
    printed = [1.581, 1.436, 1.294, 1.248, 1.108, 0.684, 0.0]
    assert ratings.elo / ELO - ratings.elo[-1] / ELO == pytest.approx(printed, abs=6e-4)
    assert ratings.bounded
    # For independent games the binomial variance equals the model's: the book's standard error of Milwaukee is 0.34.
    variance = ratings.covariance / ELO**2
    assert math.sqrt(variance[0, 0] + variance[6, 6] - 2 * variance[0, 6]) == pytest.approx(0.34, abs=0.03)


def test_two_players_have_the_pentanomial_error():
    pairs = tuple((half / 2, 2) for half, count in enumerate((3, 10, 20, 25, 9)) for _ in range(count))
    points, games = sum(one for one, _ in pairs), 2 * len(pairs)
    ratings = rate(2, [Meeting(0, 1, pairs, 0)])
    share = points / games
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * math.log10(share / (1 - share)))
    squares = sum((one - 2 * share) ** 2 for one, _ in pairs) * len(pairs) / (len(pairs) - 1)
    gap = np.array([1, -1]) @ ratings.covariance @ np.array([1, -1])
    assert math.sqrt(gap) == pytest.approx(ELO * math.sqrt(squares) / (games * share * (1 - share)))
    # A rating is relative to the mean of both, so it is half of the difference.
    assert ratings.error(0) == pytest.approx(1.959964 * math.sqrt(gap) / 2)
    assert ratings.superiority(0, 1) + ratings.superiority(1, 0) == pytest.approx(1)
    assert ratings.superiority(0, 1) == pytest.approx(NormalDist().cdf((ratings.elo[0] - ratings.elo[1]) / gap**0.5))


def test_few_pairs_have_the_error_of_independent_games():
    pairs = ((2.0, 2), (1.0, 2), (1.5, 2))
    ratings, share = rate(2, [Meeting(0, 1, pairs, 1)]), 4.5 / 6
    gap = np.array([1, -1]) @ ratings.covariance @ np.array([1, -1])
    assert gap == pytest.approx(ELO**2 / (6 * share * (1 - share)))


def test_pairs_that_cancel_have_a_smaller_error_than_single_games():
    """Black wins every opening, so the results contain no chance."""
    cancelling = rate(2, [Meeting(0, 1, ((1.0, 2),) * 20, 0)])
    alone = rate(2, [meeting(0, 1, 20, 20)])
    assert 0 < cancelling.error(0) < alone.error(0) / 2
    assert cancelling.superiority(0, 1) == 0.5


@pytest.mark.parametrize(("points", "pairs"), [(1.0, 4), (1.0, 10), (1.5, 4), (0.5, 10)])
def test_equal_pairs_have_the_error_of_a_match(points, pairs):
    met = ((points, 2),) * pairs
    ratings, match = rate(2, [Meeting(0, 1, met, 0)]), measure_strength(met)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(match.elo)
    assert match.low is not None
    assert match.high is not None
    # Each rating has half of the difference and of its interval, which is symmetric here.
    assert 2 * ratings.error(0) == pytest.approx((match.high - match.low) / 2, rel=0.12)
    assert ratings.superiority(0, 1) < 0.98
    assert min(rate(3, [Meeting(0, 1, met, 0), Meeting(0, 2, met, 0)]).error(player) for player in range(3)) > 20


@pytest.mark.parametrize("draws", [0.1, 0.6])
@pytest.mark.parametrize("pairs", [4, 10, 40])
def test_the_errors_contain_the_truth_in_95_percent_of_leagues(pairs, draws):
    truth = np.array([60.0, 0.0, -60.0])
    generator = np.random.default_rng(pairs)
    held, tries = 0, 200
    for _ in range(tries):
        meetings = []
        for first, second in ((0, 1), (0, 2), (1, 2)):
            win = 1 / (1 + math.exp(-(truth[first] - truth[second]) / ELO)) - draws / 2
            results = generator.choice([1.0, 0.5, 0.0], (pairs, 2), p=[win, draws, 1 - draws - win])
            meetings.append(Meeting(first, second, tuple((float(one.sum()), 2) for one in results), 0))
        ratings = rate(3, meetings)
        held += sum(abs(ratings.elo[player] - truth[player]) <= ratings.error(player) for player in range(3))
    assert held / (3 * tries) > 0.95 - 3 * math.sqrt(0.05 * 0.95 / tries)


def random_league(seed: int, players: int, pairs: int, deviation: float) -> list[Meeting]:
    """Return a round robin without draws between players of normally distributed ratings."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(0, deviation, players)
    meetings = []
    for first in range(players):
        for second in range(first + 1, players):
            win = 1 / (1 + math.exp(-(truth[first] - truth[second]) / ELO))
            points = generator.binomial(2, win, pairs)
            meetings.append(Meeting(first, second, tuple((float(one), 2) for one in points), 0))
    return meetings


@pytest.mark.parametrize(
    ("seed", "players", "pairs", "deviation"),
    [
        (0, 10, 2000, 150),
        (19, 20, 50, 200),
        (12, 24, 500, 300),
        (13, 24, 500, 300),
        (15, 24, 50, 100),
        (17, 24, 50, 100),
    ],
)
def test_the_errors_of_a_large_league_equal_those_by_matrix_inversion(seed, players, pairs, deviation):
    """The comparison uses ratings relative to the last player, for which the matrix is invertible.

    In all but the first of these leagues rounding leaves a zero eigenvalue above 1e-15 of the largest one."""
    meetings = random_league(seed, players, pairs, deviation)
    ratings = rate(players, meetings)
    curvature, spread = np.zeros((2, players, players))
    for one in meetings:
        share = 1 / (1 + math.exp(-(ratings.elo[one.first] - ratings.elo[one.second]) / ELO))
        squares = sum((points - 2 * share) ** 2 for points, _ in one.pairs) * pairs / (pairs - 1)
        least = share * (1 - share) * (2 * pairs * unmet_share(pairs) / 1.959964) ** 2
        gap = np.zeros(players)
        gap[one.first], gap[one.second] = 1, -1
        curvature += one.games * share * (1 - share) * np.outer(gap, gap)
        spread += max(squares, least) * np.outer(gap, gap)
    inverse = np.zeros((players, players))
    inverse[:-1, :-1] = np.linalg.inv(curvature[:-1, :-1])
    centred = np.eye(players) - 1 / players
    covariance = ELO**2 * centred @ inverse @ spread @ inverse @ centred
    assert ratings.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-6)
    assert ratings.covariance.sum(axis=1) == pytest.approx(np.zeros(players), abs=1e-6)
    assert ratings.elo.mean() == pytest.approx(0, abs=1e-6)


def test_groups_without_common_games_are_rated_separately():
    group = random_league(2, 8, 30, 150)
    beside = [Meeting(one.first + 8, one.second + 8, one.pairs, one.draws) for one in group]
    alone, both = rate(8, group), rate(17, [*group, *beside])  # the last player has no opponents
    assert alone.bounded
    assert not both.bounded
    assert both.elo[:8] == pytest.approx(both.elo[8:16], abs=1e-6)
    assert both.elo[:8].mean() == pytest.approx(0, abs=1e-6)
    # One additional draw in every meeting changes little.
    assert both.elo[:8] == pytest.approx(alone.elo, abs=20)
    assert [both.error(player) for player in range(8)] == pytest.approx([alone.error(p) for p in range(8)], rel=0.1)
    assert (both.elo[16], both.error(16)) == pytest.approx((0, 0), abs=1e-6)


COUNTS = st.tuples(*[st.integers(0, 12)] * 3)


@settings(max_examples=60)
@given(st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(COUNTS, min_size=10, max_size=10))))
def test_ratings_reproduce_the_points_of_every_player(league):
    players, counts = league
    pairings = [(first, second) for first in range(players) for second in range(first + 1, players)]
    meetings = [meeting(*pairing, *one) for pairing, one in zip(pairings, counts, strict=False)]
    ratings = rate(players, meetings)
    assert np.isfinite(ratings.elo).all()
    assert ratings.elo.mean() == pytest.approx(0, abs=1e-6)
    more = 0 if ratings.bounded else 1
    surplus = np.zeros(players)
    for one in meetings:
        if one.games:
            share = 1 / (1 + math.exp(-(ratings.elo[one.first] - ratings.elo[one.second]) / ELO))
            beyond = one.points + more / 2 - (one.games + more) * share
            surplus[one.first] += beyond
            surplus[one.second] -= beyond
    assert surplus == pytest.approx(np.zeros(players), abs=1e-6)


def test_a_player_with_only_wins_is_reported_as_unbounded():
    meetings = [meeting(0, 1, 10, 0), meeting(0, 2, 10, 0), meeting(1, 2, 5, 5)]
    report = standings(["a", "b", "c"], meetings)
    assert report.players[0].name == "a"
    assert "do not bound every difference" in report.remarks[0]
    assert standings(["b", "c"], [meeting(0, 1, 5, 5)]).remarks == ()
    for players, meetings, bounded in (
        (2, [meeting(0, 1, 0, 5)], False),
        # Each beats only the next, and all others indirectly.
        (6, [meeting(one, (one + 1) % 6, 5, 0) for one in range(6)], True),
        # Full Newton steps diverge here.
        (5, [meeting(1, 2, 0, 2), meeting(1, 3, 0, 325), meeting(2, 4, 0, 3000), meeting(3, 4, 2343, 0)], False),
    ):
        ratings = rate(players, meetings)
        assert ratings.bounded == bounded
        assert np.abs(ratings.elo).max() < 2000


def test_the_table_has_the_columns_of_ordo():
    meetings = [
        Meeting(0, 1, ((2.0, 2), (1.5, 2), (0.0, 2), (1.0, 2)), 1),
        Meeting(0, 2, ((2.0, 2), (1.0, 2), (1.5, 2), (2.0, 2)), 3),
        Meeting(1, 2, ((1.0, 2), (1.0, 2), (0.5, 2), (2.0, 2)), 1),
        Meeting(2, 3, (), 0),
    ]
    report = standings(["weak", "strong", "weakest", "absent"], meetings)
    first = report.players[0]
    assert (first.wins, first.draws, first.losses, first.games) == (9, 4, 3, 16)
    assert (first.points, first.share, first.draw_share) == (11.0, 11 / 16, 0.25)
    for row in report.players:
        assert row.points == row.wins + row.draws / 2
        assert row.games == row.wins + row.draws + row.losses
    head, *lines = table_text(report.players).splitlines()
    columns = ["#", "PLAYER", ":", "RATING", "ERROR", "POINTS", "PLAYED", "(%)", "CFS(%)", "W", "D", "L", "D(%)"]
    assert head.split() == columns
    assert all(len(line) == len(head) for line in lines)
    assert lines[0].split()[5:] == ["11.0", "16", "69", f"{100 * first.superiority:.0f}", "9", "4", "3", "25"]
    assert first.superiority > 0.5
    assert [line.split()[8] for line in lines][-1] == "---"
    assert all(row.superiority is None for row in report.players[2:])  # the next one has no game, or there is none
    met = meetings_text(report.meetings).splitlines()
    assert len(met) == 3
    assert " ".join(met[1].split()) == "weak - weakest : 5 - 3 - 0 81 % pairs 0, 0, 1, 1, 2"
    assert Meeting(0, 1, ((1.0, 2), (1.0, 1), (0.0, 1)), 0).pentanomial() == [
        0,
        0,
        1,
        0,
        0,
    ]  # two games have no partner
