"""What a report tells of a match: its pairs, its players, its clock and its command."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from experiments.arena.course import Moment
from experiments.arena.results import Result
from experiments.elo.sprt import Sprt
from experiments.elo.strength import measure_strength
from experiments.matches.standing import Standing
from experiments.report.match_section import MOVES, RATE, _course, _limits, _player, _read_timed, match_section
from experiments.report.section import command_of
from experiments.usi_client.engines import BY_SHELL
from tests.experiments.report.conftest import PAIRS, outcome_counts

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


def test_a_match_has_the_elo_of_its_pairs(match: Path) -> None:
    section = match_section({"mine": match})
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
    assert "--nodes 5000" in row["command"]
    assert section.origins[0].machine == "One CPU, avx2"
    assert section.origins[0].seed == "7"


def test_players_of_older_matches_have_their_options(match: Path) -> None:
    path = match / "description.json"
    description = json.loads(path.read_text())
    description["options"]["second_option"] = {"razor_margin": "300"}
    path.write_text(json.dumps(description))
    assert match_section({"mine": match}).tables[0].lines[0][2] == "default (100 nodes, razor_margin=300)"
    path.write_text(json.dumps(description | {"counted": {"games": 40, "sprt": None, "players": ["a", "b"]}}))
    with pytest.raises(ValueError, match="its description names no two players"):
        match_section({"mine": match})


def test_pairs_behind_a_tests_decision_count_for_nothing(match: Path) -> None:
    def counted(**how: object) -> tuple[int, ...]:
        path = match / "description.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "counted": how}))
        (row,) = match_section({"mine": match}).charts[0].spec["data"]["values"]
        return row["games"], row["wins"], row["draws"], row["losses"]

    decided = Standing(20, Sprt(-400, 0))
    for job, pair in enumerate(PAIRS):
        decided.see(job, {"games": 2} | outcome_counts(*pair))
    assert decided.verdict
    assert decided.beyond > 10
    report = decided.report()
    test = {"elo0": -400, "elo1": 0, "alpha": 0.05, "beta": 0.05}
    assert counted(games=40, sprt=test) == tuple(report[name] for name in ("games", "wins", "draws", "losses"))
    assert counted(games=4, sprt=None) == (4, 3, 0, 1)
    with pytest.raises(ValueError, match="its description tells no way to count its games"):
        counted(games=40, sprt={"elo0": "much"})


def test_a_match_through_shogiarena_tells_its_command_and_its_course(tmp_path: Path, monkeypatch: Any) -> None:
    rules = {"rules": {"time_control": {"byoyomi_ms": 100}}, "tournament": {"seed": 5}}
    (tmp_path / "match.yaml").write_text(json.dumps(rules))
    for side in ("first", "second"):
        engine = {"engine_path": f"/e/{side}", "engine_args": [], "options": {}}
        (tmp_path / f"{side}.yaml").write_text(json.dumps(engine))
    monkeypatch.setattr("experiments.report.match_section.read_results", lambda _: [Result("a", 1.0, "x")])
    monkeypatch.setattr(
        "experiments.report.match_section.read_course", lambda _: [Moment(10, "second", 0.6, 0.1, 0.25)]
    )
    first, second, report, origin = _read_timed("r", tmp_path)
    assert (first, second, report["wins"], origin.seed) == ("first", "second", 1, "5")
    assert origin.command == "liteshogi match first second --byoyomi 100"
    (row,) = _course("r", tmp_path)
    assert (row["seen by"], row[MOVES], row[RATE], row["games over"]) == ("r: the second", 10, 0.6, "25%")
    assert row[f"{RATE} to"] == pytest.approx(0.6 + 0.196)


def test_the_clock_of_a_match_is_told_by_its_options() -> None:
    control = {"time_ms": 60_000, "increment_ms": 500, "byoyomi_ms": 0, "node_limit": None, "depth_limit": 9}
    assert _limits(control) == "--time 60000 --increment 500 --depth 9"  # type: ignore[arg-type]
    assert _limits({"byoyomi_ms": 100, "node_limit": 7}) == "--byoyomi 100 --nodes 7"


def test_a_command_names_no_openings_that_were_not_given_and_plays_as_many_games() -> None:
    openings = hashlib.sha256(b"startpos").hexdigest()
    told = {"verb": "match", "nets": [], "options": {"openings": openings, "seed": 1}, "counted": {"games": 4}}
    assert command_of(told) == "liteshogi match --seed 1 --games 4"
    told["options"] = {"openings": hashlib.sha256(b"startpos moves 7g7f").hexdigest()}
    assert command_of(told) == "liteshogi match --openings sha256:f2516633751f --games 4"


def test_an_engine_that_is_a_link_is_called_by_its_name() -> None:
    engine = {"engine_path": BY_SHELL[0], "engine_args": [*BY_SHELL[1:], "/opt/link", "--x"], "options": {"Threads": 2}}
    engine["options"] |= {"NetworkDelay": 0, "NetworkDelay2|": 0}  # which every engine is given
    assert _player(engine) == "link --x Threads=2"
