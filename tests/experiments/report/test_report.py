"""The report: what runs leave behind, read, drawn and laid out on a page that needs nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.report.charts import PNG_WIDTH, draw_png, interval, lines, pareto_front
from experiments.report.comparison_section import ACCURACY, COST, SHARE, comparison_section, recipe_section
from experiments.report.judgement_section import BOARDS, judgement_section
from experiments.report.league_section import is_league, league_section
from experiments.report.loop_section import loop_section
from experiments.report.match_section import is_timed_match, match_section
from experiments.report.report import Report, find_runs, read_sections, write_report
from experiments.report.section import Table, command_of
from experiments.report.sweep_section import sweep_section
from experiments.report.training_section import _command, training_section
from tests.experiments.report.conftest import MAKER, make_match

vl_convert = pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def page(match: Path, training: Path, loop: Path, judgement: Path, sweep: Path, league: Path, tmp_path: Path) -> Path:
    runs = (match, training, loop, judgement, sweep, league, DOCS / "recipe", DOCS / "compare")
    path = tmp_path / "page.html"
    report = write_report(Report(runs, path))
    assert report["page"] == str(path)
    return path


def specs_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return list(json.loads(found[1])["specs"])


def test_a_page_holds_all_that_it_needs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # the library names the places of its schemas
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', own)
    assert "url(" not in own
    assert "@import" not in own
    anchors = re.findall(r'href="#([^"]*)"', own)
    assert len(anchors) >= 7
    for anchor in anchors:
        assert own.count(f'id="{anchor}"') == 1
    assert "&lt;/script&gt;.safetensors" in own  # a net's name is no HTML


def test_every_chart_is_one_that_the_library_can_draw(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    specs = specs_of(text)
    assert len(specs) > 15
    for number, spec in enumerate(specs):
        assert f'id="chart-{number}"' in text
        svg = vl_convert.vegalite_to_svg({**spec, "width": 500})
        assert svg.count("<path") >= len(spec["data"]["values"]), number


def test_a_browser_draws_every_chart_without_a_complaint(page: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium on this machine")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    flags += ["--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom"]
    done = subprocess.run(
        [browser, *flags, page.as_uri()], capture_output=True, text=True, check=True, timeout=250, encoding="utf-8"
    )
    assert "CONSOLE" not in done.stderr
    count = len(specs_of(page.read_text(encoding="utf-8")))
    assert f'data-drawn="{count}"' in done.stdout
    assert len(re.findall(r"<svg[^>]*class=\"marks\"", done.stdout)) == count


def test_two_kinds_of_cpu_have_two_shapes(match: Path, tmp_path: Path) -> None:
    other = make_match(tmp_path / "other", MAKER | {"cpu": "Another CPU"})
    alone, both = (
        match_section(runs).charts[0].spec["layer"][-1]["encoding"] for runs in ({"a": match}, {"a": match, "b": other})
    )
    assert "shape" not in alone
    assert both["shape"]["field"] == "machine"


def test_a_sweep_has_a_front_of_each_machine(sweep: Path) -> None:
    section = sweep_section({"mine": sweep})
    titles = [chart.title.removeprefix("mine: ") for chart in section.charts]
    assert titles == [
        "d1-RMSE over cost",
        "accuracy on held-out games over cost",
        "Elo at equal nodes over cost",
        "Elo at equal time over cost",
        "d1-RMSE over positions",
        "what one option does to d1-RMSE, all else equal",
    ]
    front, *_ = section.charts[0].spec["layer"]
    found = [(row["machine"], row["evaluation, ns"]) for row in front["data"]["values"]]
    assert found == [("A, avx2", 32), ("A, avx2", 64), ("B, avx2", 64), ("B, avx2", 128)]
    assert front["encoding"]["detail"] == {"field": "machine"}
    assert [row["Elo"] for row in section.charts[3].spec["data"]["values"]] == [100]
    grown = section.charts[4].spec["data"]["values"]
    assert [row["million positions seen"] for row in grown] == [0.032, 0.064, 0.064, 0.096, 0.128]
    (effect,) = section.charts[5].spec["data"]["values"]
    assert (effect["change"], effect["ns more"], effect["difference of d1-RMSE"]) == ("seed 0 to 1", 10, 0.01)
    told = min(section.charts[1].spec["data"]["values"], key=lambda row: row["multiply-adds"])
    assert (told["accuracy, %"], told["kilobytes"], told["nodes/s"], told["multiply-adds"]) == (63.2, 1, 1000, 256)
    assert [table.title for table in section.tables] == [
        "mine: the best net for so many nanoseconds",
        "mine: all nets",
        "mine: one option at a time, all else equal",
    ]
    assert section.origins[0].machine == "A, avx2; B, avx2"
    assert section.origins[0].seed == "0, 1"


def test_a_sweep_names_its_peers_and_keeps_the_colours_of_its_kinds(sweep: Path) -> None:
    charts = sweep_section({"mine": sweep}).charts
    labels = charts[0].spec["layer"][-1]
    assert [row["label"] for row in labels["data"]["values"]] == ["peer"]
    colours = [
        chart.spec["layer"][0 if chart is charts[5] else 1]["encoding"]["color"] for chart in charts[:4] + charts[5:]
    ]
    assert {tuple(colour["scale"]["domain"]) for colour in colours} == {("dense", "made elsewhere")}
    assert (colours[0]["legend"], colours[-1]["legend"]) == ({"values": ["dense", "made elsewhere"]}, None)


def test_comparisons_of_several_volumes_have_curves() -> None:
    report = json.loads((DOCS / "compare" / "nets.json").read_text())
    report |= {"digests": {"valid": "0"}, "positions": 4000}
    few = json.loads(json.dumps(report | {"positions": 500}))
    for row in few["rows"]:
        row["figures"]["accuracy"]["mean"] = 0.5
        row["value_calibration"] = [{"positions": 9, "predicted": 0.1, "actual": 0.2}]
        row["timed_games"] = {"games": 2, "wins": 1, "draws": 0, "losses": 1, "elo": 9.0, "elo_low": 1, "elo_high": 20}
    section = comparison_section({"many": report, "few": few})
    titles = [chart.title for chart in section.charts]
    assert "few: calibration on held-out games" in titles
    assert "few: Elo at equal time" in titles
    curve = section.charts[-1]
    assert curve.title == "nets: value accuracy, % over positions"
    values = curve.spec["data"]["values"]
    assert [row["positions"] for row in values] == [500] * len(few["rows"]) + [4000] * len(report["rows"])
    assert values[0]["value accuracy, %"] == 50
    others = comparison_section({"many": report, "few": few | {"digests": {"valid": "1"}}})
    assert "over positions" not in others.charts[-1].title


def test_a_recipes_nets_tell_the_commands_that_train_them() -> None:
    """A shape's name is the plan's own, which `train` does not know."""
    charts = recipe_section({"recipe": DOCS / "recipe"}).charts
    told = {row["command"] for chart in charts for row in chart.spec["data"]["values"] if "command" in row}
    dense = "--width 64 --perspectives 2 --hidden 16 --epochs 3 --lambda 1 --mirror --seed"
    assert f"liteshogi train dense played-2M.hcpe {dense} 0" in told
    assert any(command.endswith("--init-from 'nets/tree, both-0'") for command in told)


def test_a_recipes_charts_show_what_was_measured() -> None:
    charts = {
        chart.title: chart for chart in recipe_section({"r": DOCS / "recipe", "v": DOCS / "recipe" / "volume"}).charts
    }
    mixed = charts["r, results: d1-RMSE over the share of the result"].spec["data"]["values"]
    assert sorted(row[SHARE] for row in mixed) == [0, 0, 10, 10, 25, 25, 50, 50]  # one net of each share and scores
    assert all(50 < row["accuracy, %"] < 100 for row in mixed)
    cost = charts["v: Elo over the cost of training"].spec
    rows, front = cost["data"]["values"], cost["layer"][0]["data"]["values"]
    assert all(row["Elo from"] <= row["Elo"] <= row["Elo to"] for row in rows)
    assert max(rows, key=lambda row: row["Elo"]) in front


def test_a_comparison_shows_what_was_measured() -> None:
    report = json.loads((DOCS / "compare" / "nets.json").read_text())
    cost, curves, *_ = (chart.spec for chart in comparison_section({"n": report}).charts)
    rows, front = cost["data"]["values"], cost["layer"][0]["data"]["values"]
    assert [row[COST] for row in rows] == pytest.approx([row["evaluation_us"] for row in report["rows"]], rel=1e-4)
    assert [row["variant"] for row in front] == ["lite-16-4-32", "resnet-5x64"]
    assert [row["epoch"] for row in curves["data"]["values"][:2]] == [1, 2]
    assert curves["data"]["values"][0][ACCURACY] == pytest.approx(
        100 * report["rows"][0]["log"][0][0]["accuracy"], rel=1e-4
    )


def test_a_judgement_tells_losses_and_shows_the_worst_moves(judgement: Path) -> None:
    report = json.loads(judgement.read_text())
    section = judgement_section({"mine": report | {"worst": report["worst"] * (BOARDS + 1)}})
    assert section.tables[0].lines == [["mine", "mine, as it is", "70.9 +- 11.0", "56.0%", "theirs, 10 nodes"]]
    assert len(section.boards) == BOARDS
    assert section.boards[0].words[:2] == ("mine: 6g7g is chosen (-1500)", "P*2b is the judge's (+112)")


@pytest.mark.parametrize(("seeds", "reach"), [(1, None), (2, 12.706), (3, 4.303), (5, 2.776)])
def test_intervals_over_seeds_are_as_wide_as_so_few_allow(seeds: int, reach: float | None) -> None:
    report = json.loads((DOCS / "compare" / "nets.json").read_text())
    error = None if seeds == 1 else 0.01
    for row in report["rows"]:
        row["figures"]["accuracy"] = {"mean": 0.6, "error": error}
        row["log"] = [row["log"][0]] * seeds
    costs, *_ = comparison_section({"one": report | {"seeds": list(range(seeds))}}).charts
    for row in costs.spec["data"]["values"]:
        assert row["value accuracy, %"] == 60
        if reach is None:
            assert "value accuracy, % from" not in row
        else:
            ends = row["value accuracy, % from"], row["value accuracy, % to"]
            assert ends == pytest.approx((60 - reach, 60 + reach), rel=2e-4)


def test_a_league_is_rated_by_its_ledger_and_named_by_its_report(league: Path) -> None:
    (chart,) = league_section({"mine": league}).charts
    rows = chart.spec["data"]["values"]
    assert [(row["player"], row["games"], row["wins"]) for row in rows] == [("a", 40, 40), ("b", 40, 20), ("c", 40, 0)]
    assert rows[0]["Elo"] > rows[1]["Elo"] == pytest.approx(0, abs=1e-6)
    assert all(row["Elo from"] < row["Elo"] < row["Elo to"] for row in rows)
    (league / "league.json").write_text(json.dumps({"names": ["first", "second", "third"]}))
    section = league_section({"mine": league})
    assert [row["player"] for row in section.charts[0].spec["data"]["values"]] == ["first", "second", "third"]
    assert int(section.tables[0].lines[0][5].rstrip("%")) > 50  # the strongest is likely to be so
    assert section.tables[0].lines[1][3:5] == ["20", "40"]
    assert section.tables[1].lines[0][:4] == ["first", "second", "20 - 0 - 0", "100%"]
    for row in section.charts[0].spec["data"]["values"]:
        assert row["Elo to"] - row["Elo"] == pytest.approx(row["Elo"] - row["Elo from"], abs=0.1)
    begun, *_ = (league / "ledger.jsonl").read_text().splitlines(keepends=True)
    (league / "ledger.jsonl").write_text(begun.replace("wins as black", "draws as black"))
    section = league_section({"mine": league})
    assert section.tables[1].lines[0][2:4] == ["1 - 1 - 0", "75%"]
    assert [row["player"] for row in section.charts[0].spec["data"]["values"]] == ["first", "second"]
    assert len(section.tables[0].lines) == 3  # of whom one has no game


def test_a_gauntlets_pairs_are_those_of_its_first_player(league: Path) -> None:
    description = json.loads((league / "description.json").read_text())
    description["options"]["gauntlet"] = True
    (league / "description.json").write_text(json.dumps(description))
    lines = league_section({"mine": league}).tables[1].lines
    assert [line[:3] for line in lines] == [["a", "b", "30 - 0 - 0"], ["a", "c", "30 - 0 - 0"]]


def test_a_loop_shows_each_generation(loop: Path) -> None:
    charts = {chart.title: chart.spec["data"]["values"] for chart in loop_section({"l": loop}).charts}
    assert set(charts) == {
        "Elo of each candidate over the best so far",  # and none against an opponent, of whom it is not known
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
def test_the_known_side_of_an_interval_is_drawn(low: float | None, high: float | None, drawn: dict[str, float]) -> None:
    assert interval("Elo", -500.0, low, high) == {"Elo": -500.0} | drawn
    assert interval("Elo", None, low, high) == {}


def test_a_sweep_tells_standard_errors_from_intervals(sweep: Path) -> None:
    section = sweep_section({"mine": sweep})
    (nets,) = (table for table in section.tables if table.title == "mine: all nets")
    told = {line[nets.head.index("d1-RMSE")] for line in nets.lines}
    rows = section.charts[0].spec["data"]["values"]
    halves = [(row["d1-RMSE to"] - row["d1-RMSE from"]) / 2 for row in rows]
    assert {f"{row['d1-RMSE']:.4f} +- {half / 1.96:.4f}" for row, half in zip(rows, halves, strict=True)} == told
    assert "but for the tables' +- of d1-RMSE, which are standard errors" in section.about


def test_players_stand_with_their_options_in_the_command() -> None:
    nets = [{"name": "a b.safetensors"}, {"name": "default"}]
    told = {"verb": "match", "nets": nets, "options": {"nodes": 50, "gauntlet": True, "players": [{}, {"lmr": 3}]}}
    assert command_of(told) == "liteshogi match 'a b.safetensors' 'default lmr=3' --nodes 50 --gauntlet"
    told["options"] = {"first_option": {"lmr": 3}, "second_option": {}, "random_plies": [6, 12]}
    assert command_of(told) == "liteshogi match 'a b.safetensors lmr=3' default --random-plies 6 12"


def test_a_loop_has_its_networks_and_its_training_behind_options() -> None:
    nets = [{"role": "first", "name": "a b"}, *({"role": f"against {one}", "name": one} for one in ("default", "c"))]
    options = {
        "seed": 1,
        "config kind": "dense",
        "config lambda-end": None,
        "config hidden": [32],
        "config quiet": False,
    }
    training = '{"kind": "dense", "hidden": [32], "quiet": false}'
    assert command_of({"verb": "loop", "nets": nets, "options": options}) == (
        f"liteshogi loop --first 'a b' --against default c --seed 1 --config '{training}'"
    )


def test_numbers_of_zero_stand_in_the_command() -> None:
    """The command would else have their defaults, which are others."""
    options = {"nodes": 20, "depth": 0, "second_nodes": 0, "second_depth": 3, "random_plies": [0, 0], "balance": 0}
    options |= {"played_out": 0.0, "seed": 0, "gauntlet": False, "names": [], "gain": None}
    told = {"verb": "match", "nets": [{"name": "a"}, {"name": "b"}], "options": options}
    words = "--nodes 20 --second-depth 3 --random-plies 0 0 --balance 0 --played-out 0.0 --seed 0"
    assert command_of(told) == f"liteshogi match a b {words}"


def test_a_training_tells_its_command_and_a_thinned_curve(training: Path) -> None:
    log, *rest = (training / "log.jsonl").read_text().splitlines()
    early = {**json.loads(rest[-1]), "step": 1, "loss": 0.9, "accuracy": 0.5, "calibration": [], "by_ply": []}
    (training / "log.jsonl").write_text("\n".join([log, json.dumps(early), *rest, ""]))
    (training / "made.json").write_text(json.dumps({"made_by": [MAKER]}))
    section = training_section({"mine": training})
    assert (section.origins[0].machine, section.origins[0].seed) == ("One CPU, avx2", "3")
    assert section.tables[0].lines[0][3:5] == ["0.5000", "62.50%"]
    loss, accuracy, calibration, by_ply = section.charts
    values = loss.spec["data"]["values"]
    assert 200 < len(values) <= 300
    assert values[0]["command"] == "liteshogi train dense 'my data' --seed 3 --hidden 16 2 --mirror"
    assert [row["accuracy, %"] for row in accuracy.spec["data"]["values"]] == [50, 62.5]
    assert [(row["predicted"], row["actual"]) for row in calibration.spec["data"]["values"]][1:3] == [
        (0.25, 0.2),
        (0.5, 0.4),
    ]
    assert [(row["ply"], row["accuracy, %"]) for row in by_ply.spec["data"]["values"]] == [("0-19", 50)]
    assert isinstance(section.tables[0], Table)
    assert section.tables[0].lines[0][:3] == ["mine", "dense", "1,000"]
    assert _command({"kind": "dense", "quiet": False, "init-from": '/データ/a "b".safetensors'}) == (
        """liteshogi train dense --no-quiet --init-from '/データ/a "b".safetensors'"""
    )


def test_a_curve_of_one_point_is_seen_and_told_by_its_axis() -> None:
    curve = [{"run": "long", "step": step, "loss": 0.7} for step in (20, 30)]
    for rows, loss in (([], 0.62934), (curve, 0.7)):
        chart = lines("Loss", [*rows, {"run": "one", "step": 20, "loss": loss}], "step", "loss", "run", dots=False)
        svg = vl_convert.vegalite_to_svg({**chart.spec, "width": 500})
        dots = re.findall(r'aria-label="step: [0-9]+; loss: ([0-9.]+); run: (?:long|one)"[^>]*opacity="([01])"', svg)
        assert dots == [*([("0.7", "0")] * len(rows)), (str(loss), "1")]
        assert f">{loss}</text>" in svg


def test_a_training_tested_on_drawn_games_alone_tells_no_accuracy(training: Path) -> None:
    *lines, last = (training / "log.jsonl").read_text().splitlines()
    tested = json.loads(last) | {"accuracy": None}
    (training / "log.jsonl").write_text("\n".join([*lines, json.dumps(tested), ""]))
    section = training_section({"mine": training})
    assert [chart.title for chart in section.charts] == ["Training loss", "Calibration", "Accuracy by ply"]
    assert section.tables[0].lines[0][3:] == ["0.5000", "", "0.6000", "0.2000", "0.0100"]


def test_a_page_tells_of_files_whose_names_are_no_utf8(training: Path, tmp_path: Path) -> None:
    config = training / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"data": ["\udc93\udcfa.hcpe"]}))
    write_report(Report((training,), tmp_path / "page.html"))
    assert r"\udc93\udcfa.hcpe" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_pictures_lie_beside_the_page_and_are_linked(match: Path, training: Path, tmp_path: Path) -> None:
    report = write_report(Report((match,), tmp_path / "page #1 50%.html", png=True))
    (picture,) = map(Path, report["pictures"])
    assert picture.name == "page #1 50%-01.png"
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") >= PNG_WIDTH
    assert f'href="{quote(picture.name)}"' in (tmp_path / "page #1 50%.html").read_text(encoding="utf-8")
    assert draw_png(match_section({"match": match}).charts[0]) == content
    with pytest.raises(ValueError, match="already exists"):
        write_report(Report((match,), tmp_path / "page #1 50%.html"))
    (tmp_path / "other-04.png").touch()
    with pytest.raises(ValueError, match=r"other-04\.png: already exists"):
        write_report(Report((training,), tmp_path / "other.html", png=True))
    assert not (tmp_path / "other-01.png").exists()


def test_a_league_under_way_is_no_match(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    for name in ("first", "second", "player3"):
        (tmp_path / f"{name}.yaml").write_text(json.dumps({"engine_path": name, "engine_args": [], "options": {}}))
    engines = [{"name": name, "engine_path": f"{name}.yaml"} for name in ("first", "second", "player3")]
    (tmp_path / "match.yaml").write_text(json.dumps({"engines": engines}))
    with pytest.raises(ValueError, match="it has standings when it has ended; its command goes on"):
        write_report(Report((tmp_path,), tmp_path / "page.html"))
    (tmp_path / "match.yaml").write_text(json.dumps({"engines": engines[:2]}))
    assert is_timed_match(tmp_path)
    assert not is_league(tmp_path)


def test_a_folder_of_runs_stands_for_them_and_names_tell_them_apart(
    match: Path, training: Path, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    make_match(tmp_path / "deep" / "match", MAKER)
    (tmp_path / "notes.txt").write_text("no run")
    found = [path for paths in find_runs((tmp_path, tmp_path / "deep", match)).values() for path in paths]
    assert found == [match, tmp_path / "deep" / "match", training]
    write_report(Report((tmp_path, tmp_path / "deep"), tmp_path / "page.html"))
    assert f"{Path('deep') / 'match'}" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_is_no_run_is_refused_with_its_name_and_a_remedy(match: Path, training: Path, tmp_path: Path) -> None:
    def refusal(*runs: Path) -> str:
        with pytest.raises((ValueError, OSError)) as raised:
            write_report(Report(runs, tmp_path / "out" / "page.html"))
        assert not (tmp_path / "out" / "page.html").exists()
        return str(raised.value)

    assert "there is no such run" in refusal(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    assert re.search("empty: no run that a report can tell of; give a folder of", refusal(tmp_path / "empty"))
    (tmp_path / "empty" / "results.jsonl").touch()
    assert re.search(r"empty: holds results\.jsonl without its plan\.toml.*put it beside", refusal(tmp_path / "empty"))
    (tmp_path / "torn.json").write_text('{"preset": "nets", ')
    assert re.search(r"torn\.json: not a JSON file .*make it again", refusal(tmp_path / "torn.json"))
    (tmp_path / "torn.json").write_text('{"preset": "nets", "seeds": [], "rows": [{}]}')
    assert re.search(r"torn\.json: no comparison .*make it again", refusal(tmp_path / "torn.json"))
    (training / "config.json").write_text('{"kind"')
    assert re.search(r"config\.json: not a JSON file .*restore", refusal(training))
    (match / "ledger.jsonl").write_text('{"job": 0}\n')
    assert re.search(r"ledger\.jsonl: line 1 is no job's; restore", refusal(match))
    described = json.loads((match / "description.json").read_text())
    (match / "description.json").write_text(json.dumps(described | {"verb": "selfplay"}))
    assert "`liteshogi stat` tells" in refusal(match)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.booleans())
def test_the_front_is_what_nothing_beats(pairs: list[tuple[int, int]], lower: bool) -> None:
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


def test_a_comparison_with_a_seed_too_many_is_refused_in_words() -> None:
    report = json.loads((DOCS / "compare" / "squeeze.json").read_text())
    assert comparison_section({"squeeze": report}).charts
    report["seeds"].append(9)
    with pytest.raises(ValueError, match="squeeze: no comparison that this program can read"):
        comparison_section({"squeeze": report})


def test_the_run_that_cannot_be_told_of_is_named_once(match: Path, tmp_path: Path) -> None:
    report = json.loads((DOCS / "compare" / "squeeze.json").read_text())
    (tmp_path / "more.json").write_text(json.dumps(report | {"seeds": [0, 1, 9]}))
    with pytest.raises(ValueError, match=r"^more\.json: no comparison that this program can read .*; make it again$"):
        read_sections(find_runs([DOCS / "compare" / "squeeze.json", tmp_path / "more.json"]))
    other = make_match(tmp_path / "other", MAKER)
    described = json.loads((other / "description.json").read_text())
    (other / "description.json").write_text(json.dumps(described | {"options": {"openings": 5}}))
    with pytest.raises(ValueError, match=r"^\S*other: cannot be told of \(TypeError.*\); leave it out, or restore its"):
        read_sections(find_runs([match, other]))
