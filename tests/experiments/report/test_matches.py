"""The report of matches: the pairs that count, the players, and the course of games through ShogiArena."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.arena.arena_games import ArenaGame
from experiments.arena.course import Moment
from experiments.arena.engine_match import VERB as USI_VERB
from experiments.elo.sprt import Sprt
from experiments.elo.strength import measure_strength
from experiments.matches.standing import Standing
from experiments.report.match_section import MOVES, RATE, match_section
from experiments.report.section import command_of
from lite.run_folder import RunPlan, RunWriter, read_run
from search.system.command_line import started_by
from tests.experiments.report.conftest import MATCH, PAIRS, made, make_match, outcome_counts, run_of

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


def test_a_match_has_the_elo_of_its_pairs(match: Path) -> None:
    section = match_section([run_of(match)])
    (row,) = section.charts[0].spec["data"]["values"]
    wanted = measure_strength([(2.0, 2), (1.0, 2), (1.5, 2), (2.0, 2), (0.0, 2)] * 4)
    assert [row["Elo"], row["Elo from"], row["Elo to"]] == pytest.approx(
        [wanted.elo, wanted.low, wanted.high], rel=1e-4
    )
    assert (row["games"], row["wins"], row["draws"], row["losses"]) == (40, 24, 4, 12)
    assert wanted.elo is not None
    assert section.tables[0].lines[0][3:6] == [
        "24 - 4 - 12",
        f"{wanted.elo:+.0f}",
        f"{wanted.low:+.0f} to {wanted.high:+.0f}",
    ]
    assert (row["first"], row["against"]) == ("</script>.safetensors (5000 nodes)", "default (100 nodes)")
    assert "nodes=5000" in row["command"]
    assert section.origins[0].machine == "One CPU, avx2"
    assert section.origins[0].program == "0.1.0 000000000000"
    assert section.origins[0].seed == "7"


def test_pairs_after_the_decision_of_a_test_are_not_counted(tmp_path: Path) -> None:
    def counted(name: str, **how: object) -> tuple[int, ...]:
        section = match_section([run_of(make_match(tmp_path / name, **how))])
        (row,) = section.charts[0].spec["data"]["values"]
        return row["games"], row["wins"], row["draws"], row["losses"]

    decided = Standing(20, Sprt(-400, 0))
    for job, pair in enumerate(PAIRS):
        decided.see(job, {"games": 2} | outcome_counts(*pair))
    assert decided.verdict
    assert decided.beyond > 10
    report = decided.report()
    test = {"elo0": -400, "elo1": 0, "alpha": 0.05, "beta": 0.05}
    assert counted("test", sprt=test) == (report.games, report.wins, report.draws, report.losses)
    assert counted("few", games=4) == (4, 3, 0, 1)


def test_a_match_through_shogiarena_has_its_games_and_their_course(tmp_path: Path, monkeypatch: Any) -> None:
    plan = RunPlan(USI_VERB, {"byoyomi": 100, "seed": 5}, {"players": ["one", "two"]})
    games = [ArenaGame("g1", "a", None, "ERROR"), ArenaGame("g2", "a", 0.5, "DRAW"), ArenaGame("g1", "a", 1.0, "x")]
    folder = made(tmp_path / "run", plan, games)
    moment = Moment(10, "second", 0.6, 0.1, 0.25)
    monkeypatch.setattr("experiments.report.match_section.read_course", lambda _: [moment])
    section = match_section([run_of(folder, "r")])
    assert section.tables[0].lines[0][1:4] == ["one", "two", "1 - 1 - 0"]
    assert section.origins[0].seed == "5"
    (row,) = section.charts[-1].spec["data"]["values"]
    assert (row["seen by"], row[MOVES], row[RATE], row["games over"]) == ("r: the second", 10, 0.6, "25%")
    assert row[f"{RATE} to"] == pytest.approx(0.6 + 0.196)


def test_the_section_shows_the_command_of_a_run(tmp_path: Path) -> None:
    with started_by(["match", "a b", "--nodes", "5"]), RunWriter(tmp_path, MATCH):
        pass
    assert command_of(read_run(tmp_path)) == "liteshogi match 'a b' --nodes 5"


def test_an_interrupted_run_is_marked(tmp_path: Path) -> None:
    with RunWriter(tmp_path, MATCH) as run:
        run.interrupt()
    assert match_section([run_of(tmp_path)]).origins[0].when.endswith("(interrupted)")
