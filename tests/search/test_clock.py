"""Time control: thousands of games on simulated clocks without a loss on time, and time used sensibly."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from search.clock import OWN_DELAY, Budget, Clocks, Margins, Punctuality, SearchClock, after_pondering, plan


@dataclass(frozen=True)
class Control:
    """A time control in milliseconds."""

    base: int
    byoyomi: int = 0
    increment: int = 0
    before: bool = False
    """Whether the clock adds the increment when the move begins and `go` reports the time without it."""


CONTROLS = (
    Control(0, byoyomi=100),
    Control(0, byoyomi=1_000),
    Control(0, byoyomi=10_000),
    Control(60_000),
    Control(600_000),
    Control(5_000),
    Control(10_000, increment=1_000),
    Control(300_000, byoyomi=10_000),
    Control(900_000, byoyomi=60_000),
    Control(10_000, byoyomi=1_000),
    Control(300_000, increment=10_000),
    Control(300_000, increment=10_000, before=True),
    Control(0, increment=5_000, before=True),
    Control(9_000, increment=100),
    Control(60_000, byoyomi=5_000, increment=2_000),
)


def spend(generator: random.Random, budget: Budget) -> int:
    """Return the time of a move: near the optimum, when an iteration ends, or at the maximum."""
    if budget.optimum == budget.maximum:
        return budget.maximum
    assert budget.optimum < budget.maximum
    if generator.random() < 0.1:
        return budget.maximum
    first_end = 0.6 * budget.optimum
    return min(budget.maximum, int(first_end * generator.uniform(1, 2.5)) + 1)


def play(control: Control, margins: Margins, moves: int, seed: int, lag: int) -> list[tuple[int, int, int]]:
    """Return one player's moves: (clock before, used by the engine, used by the clock); AssertionError on a loss on
    time."""
    generator = random.Random(seed)
    left, used = control.base, []
    for number in range(moves):
        clocks = Clocks(btime=left, wtime=left, byoyomi=control.byoyomi, binc=control.increment, winc=control.increment)
        budget = plan(clocks, seed % 2, 1 + 2 * number + seed % 2, margins, first=number == 0)
        assert budget is not None
        thought = spend(generator, budget)
        clock = thought + generator.randint(0, lag)
        available = left + control.byoyomi + (control.increment if control.before else 0)
        assert clock < available, f"{control}: move {number} took {clock} of {available} ms"
        used.append((left, thought, clock))
        over = max(0, clock - control.byoyomi) if control.byoyomi else clock
        left = left - over + control.increment
    return used


@pytest.mark.parametrize("games", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_game_is_lost_on_time(games):
    generator = random.Random(20)
    for game in range(games):
        control = CONTROLS[game % len(CONTROLS)]
        # Over a server with its delays, or locally, where only the engine's own delay counts.
        at_home = game % 3 == 0 or control.base + control.byoyomi + control.increment < 10_000
        margins = Margins(0, 0) if at_home else Margins()
        if at_home and game % 2 and control.base >= 60_000:
            margins = Margins(0, 0, minimum_thinking_time=2_000)
        # Games of up to 400 plies, and now and then one of 500.
        moves = 250 if game % 50 == 7 and control.base != 5_000 else generator.choice((30, 60, 60, 120))
        play(control, margins, moves, game, 8 if at_home else margins.network_delay)


def test_little_is_left_after_eighty_moves():
    for control in CONTROLS:
        at_home = control.base + control.byoyomi + control.increment < 60_000
        margins = Margins(0, 0) if at_home else Margins()
        used = play(control, margins, 80, 4, 8 if at_home else 120)
        given = control.base + 80 * (control.increment + control.byoyomi)
        assert sum(clock for _, _, clock in used) > 0.7 * given, control


def test_more_time_is_never_less_thought():
    for controls in ("byoyomi", "btime"):
        last = 0
        for milliseconds in range(5, 30_000, 7):
            budget = plan(Clocks(**{controls: milliseconds}), 0, 1, Margins())
            assert budget is not None
            assert budget.maximum >= last, milliseconds
            last = budget.maximum


@pytest.mark.parametrize("byoyomi", [1_000, 10_000, 60_000])
def test_byoyomi_is_used(byoyomi):
    margins = Margins(0, 0)
    for _, thought, _ in play(Control(0, byoyomi=byoyomi), margins, 60, 1, 5):
        assert thought > 0.95 * byoyomi


def test_byoyomi_keeps_the_larger_delay():
    budget = plan(Clocks(btime=0, wtime=0, byoyomi=10_000), 0, 50, Margins(120, 1120))
    assert budget == Budget(8_870, 8_870)


@pytest.mark.parametrize("base", [60_000, 600_000, 3_600_000])
def test_sudden_death_is_spread_over_the_game(base):
    used = play(Control(base), Margins(), 60, 7, 20)
    total = sum(thought for _, thought, _ in used)
    assert 0.55 * base < total < 0.95 * base
    assert max(thought for _, thought, _ in used) < base / 10
    early, late = sum(t for _, t, _ in used[:20]), sum(t for _, t, _ in used[40:])
    assert early < 0.6 * base
    assert late > 0.05 * base


def test_increments_are_used_and_do_not_pile_up():
    used = play(Control(300_000, increment=10_000), Margins(), 120, 5, 20)
    assert used[-1][0] < 100_000
    assert sum(thought for _, thought, _ in used[60:]) > 60 * 9_000


def test_a_share_of_each_increment_is_saved_for_harder_moves():
    left, increment = 300_000, 10_000
    for number in range(200):
        clocks = Clocks(btime=left, wtime=left, binc=increment, winc=increment)
        budget = plan(clocks, 0, 1 + 2 * number, Margins())
        assert budget is not None
        left += increment - budget.optimum
    assert left > 1.5 * increment


def test_an_increment_counts_only_on_a_clock_that_has_not_got_it():
    """A clock with less than an increment gets it when the move begins; one with more may already have it."""
    without, within = (plan(Clocks(btime=left, binc=5_000), 0, 1, Margins()) for left in (0, 5_000))
    assert without is not None
    assert within is not None
    assert without.maximum > 2_500
    assert within.maximum < 5_000


def test_late_in_a_long_game_a_small_clock_is_neither_burnt_nor_hoarded():
    (early, late), (_, ten_seconds) = (
        [plan(Clocks(btime=left), 0, game_ply, Margins()) for game_ply in (1, 120)] for left in (3_000, 10_000)
    )
    assert early is not None
    assert late is not None
    assert ten_seconds is not None
    assert late.optimum < early.optimum
    assert ten_seconds.optimum > 10_000 / 240


def test_main_time_goes_before_byoyomi_begins():
    used = play(Control(300_000, byoyomi=10_000), Margins(), 100, 5, 20)
    assert min(left for left, _, _ in used) < 20_000
    assert all(thought > 7_000 for _, thought, _ in used[10:])


def test_the_last_of_the_main_time_is_not_spent_on_one_move():
    near, far = (plan(Clocks(btime=left, byoyomi=10_000), 0, 60, Margins()) for left in (30_000, 60_000))
    assert near is not None
    assert far is not None
    assert near.maximum < 10_000 + 30_000 / 8
    assert far.maximum > 20_000


@pytest.mark.parametrize(
    ("control", "most"),
    [
        (Control(600_000, byoyomi=10_000), 0.25),
        (Control(300_000, increment=10_000), 0.4),
        (Control(900_000, increment=5_000), 0.2),
    ],
)
def test_an_engine_that_needs_less_than_was_planned_ends_its_game_with_little(control, most):
    left = control.base
    for number in range(60):
        clocks = Clocks(btime=left, wtime=left, byoyomi=control.byoyomi, binc=control.increment)
        budget = plan(clocks, 0, 1 + 2 * number, Margins())
        assert budget is not None
        thought = budget.maximum if budget.is_fixed else 3 * budget.optimum // 4
        left += control.increment - max(0, thought - control.byoyomi)
    assert left < most * control.base


@pytest.mark.parametrize("left", [-1_000, 0, 1, 5, 20, 100, 1_000])
def test_a_clock_that_is_all_but_empty(left):
    budget = plan(Clocks(btime=max(0, left), wtime=0), 0, 100, Margins())
    assert budget is not None
    assert 1 <= budget.optimum <= budget.maximum <= max(1, left)


def test_movetime_is_used_whole():
    budget = plan(Clocks(movetime=1_000), 0, 1, Margins())
    assert budget == Budget(1_000 - OWN_DELAY, 1_000 - OWN_DELAY)
    assert plan(Clocks(movetime=0), 0, 1, Margins()) == Budget(1, 1)


def test_minimum_thinking_time():
    margins = Margins(120, 1120, minimum_thinking_time=20_000)
    rich, poor = (plan(Clocks(btime=left, wtime=left), 0, 1, margins) for left in (400_000, 30_000))
    assert rich is not None
    assert poor is not None
    assert rich.optimum == 20_000 - 120
    assert poor.optimum < 2_000


def test_no_clock_no_budget():
    assert plan(Clocks(), 0, 1, Margins()) is None


@pytest.mark.parametrize("name", ["btime", "byoyomi", "binc"])
def test_a_clock_without_time_gives_the_least(name):
    assert plan(Clocks(**{name: 0}), 0, 1, Margins()) == Budget(1, 1)


def test_each_side_has_its_own_clock():
    clocks = Clocks(btime=600_000, wtime=1_000)
    black, white = (plan(clocks, colour, 1, Margins()) for colour in (0, 1))
    assert black is not None
    assert white is not None
    assert black.maximum > 20 * white.maximum


@pytest.mark.parametrize(
    ("elapsed", "factor", "enough"), [(899, 1, False), (901, 1, True), (901, 1.5, False), (1351, 1.5, True)]
)
def test_no_iteration_is_begun_that_would_lead_far_beyond_the_optimum(elapsed, factor, enough):
    assert Budget(1_000, 3_000).is_enough(elapsed, factor) == enough
    assert not Budget(1_000, 1_000).is_enough(elapsed, factor)  # unused time would be lost


def test_the_minimum_is_thought_however_clear_the_move_is():
    margins = Margins(120, 1120, minimum_thinking_time=3_000)
    budget = plan(Clocks(btime=60_000, wtime=60_000), 0, 21, margins)
    assert budget is not None
    assert 2_000 < budget.minimum <= 3_000 - 120
    assert not budget.is_enough(budget.minimum, 0.01)
    assert budget.is_enough(budget.minimum + 1, 0.01)
    short = plan(Clocks(btime=2_000, wtime=2_000), 0, 21, margins)  # no rule is worth losing the game
    assert short is not None
    assert short.minimum <= short.maximum < 1_000
    assert after_pondering(budget, 1_000).minimum == budget.minimum - 1_000
    assert after_pondering(budget, 10_000).minimum == 0


def test_a_first_move_has_no_increment_yet():
    clocks = Clocks(btime=3_000, wtime=3_000, binc=5_000, winc=5_000)
    first, later = (plan(clocks, 0, 25, Margins(), first=first) for first in (True, False))
    nothing = plan(Clocks(btime=0, wtime=0, binc=5_000, winc=5_000), 0, 1, Margins(), first=True)
    assert first is not None
    assert later is not None
    assert nothing is not None
    assert 1_000 < first.maximum <= 1_500
    assert later.maximum > 3_000
    assert nothing.maximum > 1_000  # otherwise there would be no game


def test_a_move_takes_about_its_optimum_on_average():
    """Iterations end at 1, 2, 4, ... times a random first one, with a factor as most moves have it."""
    budget, taken = Budget(1_000, 3_000), []
    for first in np.geomspace(1, 2, 100, endpoint=False):
        ends = first * 2.0 ** np.arange(20)
        taken.append(next(end for end in ends if budget.is_enough(end, 0.75)))
    assert 0.9 < np.mean(taken) / budget.optimum < 1.1


def test_thought_on_the_opponents_time_counts():
    budget = Budget(10_000, 30_000)
    assert after_pondering(budget, 0) == budget
    assert after_pondering(budget, 10_000) == Budget(5_000, 15_000)
    assert after_pondering(budget, 100_000) == Budget(1, 3)
    assert after_pondering(Budget(10_000, 12_000), 2_000) == Budget(9_000, 12_000)  # a clock that is about to run out
    byoyomi = Budget(8_000, 8_000)
    assert after_pondering(byoyomi, 100_000) == byoyomi


def test_an_engine_that_is_usually_in_time_leaves_little_unused():
    punctuality, clocks = Punctuality(), Clocks(byoyomi=100)
    for _ in range(3):
        punctuality.note(0.8)
    assert punctuality.own_delay == OWN_DELAY
    punctuality.note(0.4)
    assert punctuality.own_delay == 2
    assert plan(clocks, 0, 1, Margins(0, 0, own_delay=punctuality.own_delay)) == Budget(98, 98)
    punctuality.note(40.0)  # a single late move
    assert punctuality.own_delay == 2
    for _ in range(16):
        punctuality.note(2.1)
    assert punctuality.own_delay == 4
    for _ in range(16):
        punctuality.note(40.0)
    assert punctuality.own_delay == OWN_DELAY


def test_a_clock_knows_whether_it_ended_the_search_and_how_long_ago():
    rung = threading.Event()
    clock = SearchClock(rung.set, needs_timer=False)
    clock.set(Budget(5, 5), time.perf_counter() - 0.004)
    assert rung.wait(60)
    time.sleep(0.01)
    clock.set(None, time.perf_counter())
    late = clock.overdue()
    assert late is not None
    assert late >= 10
    clock.set(Budget(10_000, 10_000), time.perf_counter())
    assert clock.overdue() is None
    clock.set(None, time.perf_counter())
    assert clock.overdue() is None


def test_a_timer_that_was_cancelled_too_late_does_not_stop_the_next_search():
    rung = threading.Event()
    clock = SearchClock(rung.set, needs_timer=False)
    clock.set(Budget(10_000, 10_000), time.perf_counter())
    late = clock._timer
    clock.set(Budget(10_000, 10_000), time.perf_counter())
    assert late is not None
    late.function(*late.args)
    assert not rung.is_set()
    assert clock._timer is not None
    clock._timer.function(*clock._timer.args)
    assert rung.is_set()
    clock.set(None, time.perf_counter())


@pytest.mark.parametrize("needs_timer", [False, True])
def test_without_a_thread_for_its_timer_only_a_search_that_needs_it_ends_at_once(monkeypatch, needs_timer):
    rung = threading.Event()
    clock = SearchClock(rung.set, needs_timer)
    monkeypatch.setattr("search.clock.started", lambda thread: None)
    clock.set(Budget(10_000, 10_000), time.perf_counter())
    assert rung.is_set() == needs_timer
    assert clock.read()[0] == Budget(10_000, 10_000)
