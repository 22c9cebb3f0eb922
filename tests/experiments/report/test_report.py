"""The report: runs are read, drawn and shown on a page that needs no other files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.drawing.fonts import NOTATION
from experiments.drawing.pictures import NAMED_NUMBERS
from experiments.elo.strength import student
from experiments.language.catalogue import reading
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.words import Words
from experiments.report.charts import PNG_WIDTH, draw_png, interval, lines, pareto_front, points
from experiments.report.judgement_section import BOARDS, LOSS, judgement_section
from experiments.report.league_section import league_section
from experiments.report.loop_section import loop_section
from experiments.report.match_section import match_section
from experiments.report.report import Report, find_runs, read_sections, write_report
from experiments.report.tuning_section import tuning_section
from lite.run_folder import RESULTS, Machine, RunPlan
from search.alphabeta.parameters import parameters_for
from tests.experiments.report.conftest import (
    MAKER,
    MATCH,
    made,
    make_judgement,
    make_league,
    make_match,
    make_tuning,
    run_of,
)

vl_convert = pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


@pytest.fixture
def page(match: Path, loop: Path, judgement: Path, league: Path, tuning: Path, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    assert write_report(Report((match, loop, judgement, league, tuning), path)).page == path
    return path


def specs_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return list(json.loads(found[1])["specs"])


def test_a_page_needs_no_other_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # the library contains addresses of its schemas
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', own)
    assert re.findall(r"url\((?!data:)", own) == []
    assert "@import" not in own
    anchors = re.findall(r'href="#([^"]*)"', own)
    assert len(anchors) >= 6
    for anchor in anchors:
        assert own.count(f'id="{anchor}"') == 1
    assert "&lt;/script&gt;.safetensors" in own  # the name of a network is escaped


def test_every_chart_is_valid_for_the_library(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    specs = specs_of(text)
    assert len(specs) > 6
    for number, spec in enumerate(specs):
        assert f'id="chart-{number}"' in text
        svg = vl_convert.vegalite_to_svg({**spec, "width": 500})
        assert svg.count("<path") >= len(spec["data"]["values"]), number


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE], ids=["en", "ja"])
def test_a_browser_draws_every_chart_without_an_error(
    words: Words, match: Path, loop: Path, judgement: Path, league: Path, tuning: Path, tmp_path: Path
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium on this machine")
    page = tmp_path / "page.html"
    with reading(words):
        write_report(Report((match, loop, judgement, league, tuning), page))
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    flags += ["--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom"]
    done = subprocess.run(
        [browser, *flags, page.as_uri()], capture_output=True, text=True, check=True, timeout=250, encoding="utf-8"
    )
    assert "CONSOLE" not in done.stderr
    count = len(specs_of(page.read_text(encoding="utf-8")))
    assert f'data-drawn="{count}"' in done.stdout
    assert len(re.findall(r"<svg[^>]*class=\"marks\"", done.stdout)) == count
    assert "<body>" in done.stdout  # a Japanese page is hidden until its font is loaded


def test_two_kinds_of_cpu_have_different_marks(match: Path, tmp_path: Path) -> None:
    other = make_match(tmp_path / "other", replace(MAKER, machine=Machine("Another CPU", "avx2", 2)))
    one, two = run_of(match, "a"), run_of(other, "b")
    alone, both = (match_section(runs).charts[0].spec["layer"][-1]["encoding"] for runs in ([one], [one, two]))
    assert "shape" not in alone
    assert both["shape"]["field"] == "machine"


def test_judged_moves_have_losses_and_boards_of_the_worst(tmp_path: Path) -> None:
    section = judgement_section([run_of(make_judgement(tmp_path / "run", BOARDS + 1))])
    assert section.tables[0].lines == [["mine", "mine, as it is", "103.0 +- 0.8", "0.0%", "theirs, 10 nodes"]]
    assert len(section.boards) == BOARDS
    assert section.boards[0].words[:2] == ("mine: 6g7g is chosen (-1500)", "P*2b is the judge's (+112)")
    (row,) = section.charts[0].spec["data"]["values"]
    assert row[f"{LOSS} to"] - row[LOSS] == pytest.approx(student(BOARDS) * 0.8, abs=0.01)


@pytest.mark.parametrize(("positions", "loss", "charts"), [(0, "no position yet", 0), (1, "100.0", 1)])
def test_judged_moves_without_an_error_are_shown(tmp_path: Path, positions: int, loss: str, charts: int) -> None:
    (section,) = read_sections([run_of(make_judgement(tmp_path / "run", positions))])
    assert [line[:3] for line in section.tables[0].lines] == [["mine", "mine, as it is", loss]]
    assert len(section.charts) == charts
    assert not any(f"{LOSS} from" in row for chart in section.charts for row in chart.spec["data"]["values"])


def test_judged_moves_beyond_the_count_are_not_shown(tmp_path: Path) -> None:
    section = judgement_section([run_of(make_judgement(tmp_path / "run", 5, count=2))])
    assert section.tables[0].lines[0][2] == "100.5 +- 0.5"
    assert len(section.boards) == 2


def test_boards_are_in_the_page_with_its_font(tmp_path: Path) -> None:
    write_report(Report((make_judgement(tmp_path / "run", 2),), tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert own.count('<svg role="img" aria-label="l2l4l/') == 2
    assert "@font-face" in own
    fonts = set(re.findall(r'<text font-family="([^"]*)"', own))
    assert fonts == {f"serif, '{NOTATION}'"}
    ids = re.findall(r'\bid="([^"]*)"', own)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'xlink:href="#([^"]*)"', own)) <= set(ids)


def test_a_tuning_is_shown_with_its_values(tuning: Path) -> None:
    section = tuning_section([run_of(tuning)])
    (line,) = section.tables[0].lines
    assert line[:2] == ["mine", "razor_margin"]
    rows = section.charts[0].spec["data"]["values"]
    assert [row["games"] for row in rows] == list(range(2, 42, 2))
    assert f"{rows[-1]['steps from the default']:+.2f}" == line[4]


def test_a_tuning_is_shown_with_the_defaults_of_its_time(tmp_path: Path) -> None:
    section = tuning_section([run_of(make_tuning(tmp_path / "run", {"razor_margin": 200}))])
    (line,) = section.tables[0].lines
    assert line[2] == "200"
    assert abs(float(line[3]) - 200) < 40


def test_the_chart_of_a_tuning_has_the_parameters_that_moved_farthest(tmp_path: Path) -> None:
    names = {one.name: one.default for one in parameters_for(100)}
    section = tuning_section([run_of(make_tuning(tmp_path / "run", names))])
    (chart,), (table,) = section.charts, section.tables
    assert chart.title == f"mine: tuned numbers, {NAMED_NUMBERS} of {len(names)}"
    drawn = {row["parameter"] for row in chart.spec["data"]["values"]}
    steps = {line[1]: abs(float(line[4])) for line in table.lines}
    assert len(steps) == len(names)
    assert min(steps[name] for name in drawn) >= max(gone for name, gone in steps.items() if name not in drawn)


def test_a_league_is_rated_by_its_results(league: Path, tmp_path: Path) -> None:
    section = league_section([run_of(league)])
    rows = section.charts[0].spec["data"]["values"]
    assert [(row["player"], row["games"], row["wins"]) for row in rows] == [("a", 40, 40), ("b", 40, 20), ("c", 40, 0)]
    assert rows[0]["Elo"] > rows[1]["Elo"] == pytest.approx(0, abs=1e-6)
    assert all(row["Elo from"] < row["Elo"] < row["Elo to"] for row in rows)
    assert int(section.tables[0].lines[0][5].rstrip("%")) > 50  # the strongest player is probably so
    assert section.tables[0].lines[1][3:5] == ["20", "40"]
    assert section.tables[1].lines[0][:4] == ["a", "b", "20 - 0 - 0", "100%"]
    for row in rows:
        assert row["Elo to"] - row["Elo"] == pytest.approx(row["Elo"] - row["Elo from"], abs=0.1)
    ((run, remark),) = section.tables[2].lines
    assert (run, remark.partition(" (")[0]) == ("mine", "the games do not bound every difference")
    section = league_section([run_of(make_league(tmp_path / "begun", 1, result="draws"))])
    assert section.tables[1].lines[0][2:4] == ["1 - 1 - 0", "75%"]
    assert [row["player"] for row in section.charts[0].spec["data"]["values"]] == ["a", "b"]
    assert section.tables[0].lines[1] == ["c", "", "", "0", "0", "", "0 - 0 - 0"]  # it has no game
    assert [line[5] for line in section.tables[0].lines] == ["", "", ""]


def test_a_match_that_its_test_has_ended_says_that_its_elo_is_biased(tmp_path: Path) -> None:
    test = {"elo0": -400.0, "elo1": 0.0, "alpha": 0.05, "beta": 0.05}
    plain, tested = make_match(tmp_path / "plain"), make_match(tmp_path / "tested", sprt=test)
    lines = match_section([run_of(plain, "plain"), run_of(tested, "tested")]).tables[1].lines
    assert lines[0] == ["tested", "the test ended the match, so its Elo is biased toward the side of the verdict"]
    assert {line[0] for line in lines} == {"tested"}


def test_pairs_of_a_gauntlet_are_those_of_its_first_player(tmp_path: Path) -> None:
    lines = league_section([run_of(make_league(tmp_path / "run", gauntlet=True))]).tables[1].lines
    assert [line[:3] for line in lines] == [["a", "b", "30 - 0 - 0"], ["a", "c", "30 - 0 - 0"]]


def test_only_neighbours_of_a_league_have_met(tmp_path: Path) -> None:
    lines = league_section([run_of(make_league(tmp_path / "run", neighbours=1))]).tables[1].lines
    assert [line[:3] for line in lines] == [["a", "b", "30 - 0 - 0"], ["b", "c", "30 - 0 - 0"]]


def test_a_loop_shows_each_generation(loop: Path) -> None:
    charts = {chart.title: chart.spec["data"]["values"] for chart in loop_section([run_of(loop, "l")]).charts}
    assert set(charts) == {
        "Elo of each candidate over the best so far",  # no curve against an opponent that is not recorded
        "held-out loss by generation",
        "d1-RMSE by generation",
    }
    (gate,) = charts["Elo of each candidate over the best so far"]
    assert (gate["gate"], gate["outcome"], gate["Elo"]) == ("l: 1 over 0", "the new best", 70.4)
    assert [(row["generation"], row["held-out loss"]) for row in charts["held-out loss by generation"]] == [(1, 0.6)]
    assert [(row["generation"], row["d1-RMSE"]) for row in charts["d1-RMSE by generation"]] == [(0, 0.3), (1, 0.2)]


@pytest.mark.parametrize(
    ("low", "high", "drawn"),
    [
        (-700.0, -300.0, {"Elo from": -700.0, "Elo to": -300.0}),
        (None, -300.0, {"Elo from": -500.0, "Elo to": -300.0}),
        (-700.0, None, {"Elo from": -700.0, "Elo to": -500.0}),
        (None, None, {}),
    ],
)
def test_an_interval_with_one_known_side_is_drawn(
    low: float | None, high: float | None, drawn: dict[str, float]
) -> None:
    assert interval("Elo", -500.0, low, high) == {"Elo": -500.0} | drawn
    assert interval("Elo", None, low, high) == {}


def test_a_curve_of_one_point_has_a_mark_and_a_scaled_axis() -> None:
    curve = [{"run": "long", "step": step, "loss": 0.7} for step in (20, 30)]
    for rows, loss in (([], 0.62934), (curve, 0.7)):
        chart = lines("Loss", [*rows, {"run": "one", "step": 20, "loss": loss}], "step", "loss", "run", dots=False)
        svg = vl_convert.vegalite_to_svg({**chart.spec, "width": 500})
        dots = re.findall(r'aria-label="step: [0-9]+; loss: ([0-9.]+); run: (?:long|one)"[^>]*opacity="([01])"', svg)
        assert dots == [*([("0.7", "0")] * len(rows)), (str(loss), "1")]
        assert f">{loss}</text>" in svg


def test_a_page_shows_names_that_are_not_utf8(tmp_path: Path) -> None:
    goal = {**MATCH.goal, "players": ["\udc93\udcfa.hcpe", "b"]}
    made(tmp_path / "run", replace(MATCH, goal=goal), ())
    write_report(Report((tmp_path / "run",), tmp_path / "page.html"))
    assert r"\udc93\udcfa.hcpe" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_pictures_show_names_that_are_not_utf8(tmp_path: Path) -> None:
    run = make_match(tmp_path / "run", players=["a", "\udc93\udcfa.hcpe"])
    other = make_match(tmp_path / "\udc93")
    assert len(write_report(Report((run, other), tmp_path / "page.html", png=True)).pictures) == 1


def test_pictures_are_beside_the_page_and_linked(match: Path, loop: Path, tmp_path: Path) -> None:
    report = write_report(Report((match,), tmp_path / "page #1 50%.html", png=True))
    (picture,) = report.pictures
    assert picture.name == "page #1 50%-01.png"
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") >= PNG_WIDTH
    assert f'href="{quote(picture.name)}"' in (tmp_path / "page #1 50%.html").read_text(encoding="utf-8")
    assert draw_png(match_section([run_of(match, "match")]).charts[0]) == content
    with pytest.raises(ValueError, match="already exists"):
        write_report(Report((match,), tmp_path / "page #1 50%.html"))
    (tmp_path / "other-03.png").touch()
    with pytest.raises(ValueError, match=r"other-03\.png: already exists"):
        write_report(Report((loop,), tmp_path / "other.html", png=True))
    assert not (tmp_path / "other-01.png").exists()


def test_a_folder_of_runs_is_expanded_with_unique_names(
    match: Path, loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    make_match(tmp_path / "deep" / "match")
    made(tmp_path / "data", RunPlan("selfplay"), ())
    (tmp_path / "notes.txt").write_text("no run")
    runs = find_runs((match, tmp_path / "deep", tmp_path))
    assert [run.path for run in runs] == [match, tmp_path / "deep" / "match", loop]
    assert [run.name for run in runs] == [f"{tmp_path.name}/match", "deep/match", "loop"]
    again = (match, tmp_path / "deep" / ".." / "match")
    assert [(run.name, run.path) for run in find_runs(again)] == [("match", match)]
    monkeypatch.chdir(match)
    assert [run.name for run in find_runs((Path("."),))] == ["match"]
    write_report(Report((tmp_path, tmp_path / "deep"), tmp_path / "page.html"))
    assert "deep/match" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_runs_are_found_at_any_depth_but_not_inside_runs(match: Path, loop: Path, tmp_path: Path) -> None:
    judged = make_judgement(tmp_path / "runs" / "judge" / "moves", 1)
    make_match(loop / "generation-001" / "gate")
    data = made(tmp_path / "data", RunPlan("selfplay"), ())
    (tmp_path / "runs" / "linked").symlink_to(match)
    (tmp_path / "runs" / "round").symlink_to(tmp_path)
    assert [run.path for run in find_runs((tmp_path,))] == [loop, match, judged]
    assert {run.path for run in find_runs((tmp_path,), shown=False)} == {data, loop, match, judged}
    assert [run.path for run in find_runs((tmp_path / "runs",))] == [judged, tmp_path / "runs" / "linked"]


def test_folders_without_a_run_are_refused_by_name(match: Path, tmp_path: Path) -> None:
    def refusal(*runs: Path) -> str:
        with pytest.raises((ValueError, OSError)) as raised:
            write_report(Report(runs, tmp_path / "out" / "page.html"))
        assert not (tmp_path / "out" / "page.html").exists()
        return str(raised.value)

    assert "there is no such run" in refusal(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    assert re.search(r"empty: no run folder: it has no run\.json", refusal(tmp_path / "empty"))
    (tmp_path / "empty" / "description.json").touch()
    assert re.search(r"empty: holds a run of a version before 0\.1\.0", refusal(tmp_path / "empty"))
    assert re.search(r"run\.json: not a run folder; name a folder", refusal(match / "run.json"))
    made(tmp_path / "data", RunPlan("selfplay"), ())
    assert re.search("data: no run that a report shows: it has selfplay", refusal(tmp_path / "data"))
    (match / RESULTS).write_text('{"kind": "job", "job": 0}\n')
    assert re.search(r"results\.jsonl: line 1: .* must be given; restore", refusal(match))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.booleans())
def test_the_front_has_the_networks_that_none_beats(pairs: list[tuple[int, int]], lower: bool) -> None:
    rows = [{"cost": cost, "worth": worth} for cost, worth in pairs]
    front = pareto_front(rows, "cost", "worth", lower)
    sign = -1 if lower else 1
    assert front
    for row in front:
        assert not any(
            other["cost"] <= row["cost"] and sign * other["worth"] >= sign * row["worth"] and other != row
            for other in rows
        )
    for row in rows:
        assert any(one["cost"] <= row["cost"] and sign * one["worth"] >= sign * row["worth"] for one in front)


def test_an_error_names_a_damaged_run_once(match: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other", replace(MATCH, goal={"players": 5}), ())
    with pytest.raises(ValueError, match=r"^\S*other: cannot be shown \(TypeError.*\); leave it out, or restore its"):
        read_sections(find_runs([match, other]))


@pytest.mark.parametrize(
    ("costs", "ticks"),
    [
        ((43, 194), [50, 70, 100, 150]),
        ((69.6, 118), [70, 80, 90, 100]),
        ((0.1, 30), [0.1, 30]),
        ((160.25, 190), [160.25, 190]),
        ((43, 57), [43, 57]),
        ((60, 60), [60]),
    ],
)
def test_a_logarithmic_axis_has_ticks_over_all_of_it(costs: tuple[float, float], ticks: list[float]) -> None:
    rows = [{"cost": cost, "worth": 1.0, "kind": "one"} for cost in costs]
    chart = points("title", rows, "cost", "worth", "kind", log=True)
    found = chart.spec["encoding"]["x"]["axis"]["values"]
    assert set(ticks) <= set(found)
    assert all(min(costs) <= tick <= max(costs) for tick in found)
