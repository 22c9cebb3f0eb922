"""The report: what runs leave behind, read, drawn and laid out on a page that needs nothing else."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.arena.strength import measure_strength
from experiments.report.charts import PNG_WIDTH, draw_png, pareto_front
from experiments.report.comparisons import comparison_section
from experiments.report.games import match_section
from experiments.report.leagues import league_section
from experiments.report.report import Report, find_runs, write_report
from experiments.report.section import Table
from experiments.report.sweeps import sweep_section
from experiments.report.training import training_section
from experiments.report.verify import CHANGED, MISSING, SAME, UNRECORDED, verify
from experiments.results import Results
from lite.datasets.provenance import machine_of, program
from lite.training.folder import RunFolder
from lite.training.made import describe_training
from lite.training.options import ValueTraining
from liteshogi.commands.report import Command

vl_convert = pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

DOCS = Path("docs").absolute()
MAKER = {"version": "0.1.0", "commit": "0" * 40, "cpu": "One CPU", "kernel": "avx2"}
PAIRS = [("wins", "wins"), ("wins", "losses"), ("draws", "wins"), ("wins", "wins"), ("losses", "losses")] * 4


@pytest.fixture
def match(tmp_path: Path) -> Path:
    return make_match(tmp_path / "match", MAKER)


def make_match(folder: Path, maker: dict[str, str]) -> Path:
    folder.mkdir()
    description = {
        "format": "liteshogi data",
        "version": 1,
        "verb": "match",
        "options": {"nodes": 5000, "depth": 0, "second_nodes": 100, "second_depth": 0, "openings": "a" * 64, "seed": 7},
        "sources": [],
        "nets": [{"role": "first", "name": "</script>.safetensors"}, {"role": "second", "name": "default"}],
        "made_by": [maker],
        "begun": "2026-01-01",
        "updated": "2026-01-02",
        "seconds": 1.0,
        "totals": {},
    }
    (folder / "description.json").write_text(json.dumps(description))
    lines = [
        {"job": job, "shard": 0, "start": job, "stop": job + 1, "counts": {"games": 2} | outcome_counts(*pair)}
        for job, pair in enumerate(PAIRS)
    ]
    torn = json.dumps(lines[0])[:20]
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + torn)
    return folder


def outcome_counts(black: str, white: str) -> dict[str, int]:
    return {f"{black} as black": 1, f"{white} as white": 1}


@pytest.fixture
def training(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps(
            {"kind": "dense", "data": ["my data"], "output": "net", "seed": 3, "hidden": [16, 2], "mirror": True}
        )
    )
    bins = [{"positions": 5, "predicted": x / 4, "actual": x / 5} for x in range(5)]
    bands = [{"band": "ply 0-19", "accuracy": 0.5}, {"band": "ply 20+", "accuracy": None}]
    figures = {"loss": 0.5, "accuracy": 0.625, "log_loss": 0.6, "brier": 0.2, "calibration_error": 0.01}
    log = [{"kind": "start", "step": 0}]
    log += [{"kind": "train", "step": step, "loss": 1 / step} for step in range(1, 1001)]
    log += [{"kind": "valid", "step": 1000, **figures, "calibration": bins, "by_ply": bands}]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log))
    return folder


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    folder = tmp_path / "loop"
    folder.mkdir()
    standing = {"games": 20, "wins": 12, "draws": 0, "losses": 8, "elo": 70.4, "elo_low": -90.0, "elo_high": 250.0}
    stages: list[tuple[int, str, dict[str, Any]]] = [
        (0, "first network", {}),
        (0, "yardstick", {"d1_rmse": 0.3}),
        (1, "games", {"games": 100}),
        (1, "positions", {"positions": 5000}),
        (1, "training", {"steps": 10, "loss": 0.6}),
        (1, "yardstick", {"d1_rmse": 0.2}),
        (1, "gate", {**standing, "best": 0, "accepted": True}),
        (1, "against material", {**standing, "elo": None}),
        (2, "games", {"games": 50}),
    ]
    told = [dict(zip(("generation", "stage", "figures"), stage, strict=True)) | {"seconds": 1.0} for stage in stages]
    (folder / "ledger.json").write_text(json.dumps({"format": "liteshogi loop", "version": 1, "stages": told}))
    return folder


@pytest.fixture
def judgement(tmp_path: Path) -> Path:
    path = tmp_path / "judged.json"
    sfen = "l2l4l/2+RG2g2/pp2+Bpn1k/2p3pPp/4+bs3/P1P3P2/KPS+pP3P/4N+r3/LN1+p5 w 2GN2s3p 80"
    worst = {"sfen": sfen, "moves": ["6g7g"], "scores": [-1500], "best_move": "P*2b", "best": 112}
    variant = {"name": "as it is", "loss": 70.9, "error": 11.0, "as_judge": 0.56}
    report = {"engine": "mine", "judge": "theirs", "judge_nodes": 10, "variants": [variant], "worst": [worst]}
    path.write_text(json.dumps(report))
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Nets of two machines, one wider than the other; the widest have played."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    (folder / "sweep.toml").write_text("")
    results = Results(folder / "points.jsonl")
    for seed, width, cpu in ((0, 32, "A"), (0, 64, "A"), (1, 64, "A"), (0, 96, "A"), (0, 64, "B"), (0, 128, "B")):
        net = {
            "label": f"dense width {width}",
            "options": {"kind": "dense", "width": 64, "seed": seed, "positions": 1000 * width},
            "net": "net.safetensors",
            "evaluation_ns": float(width + 10 * seed),
            "nps": 1000,
            "shape": [width, 1, 8, 1],
            "features": "piece_square",
            "multiply_adds": 8 * width,
            "bytes": 1000,
            "d1_rmse": 0.2 - width / 1000 if width != 96 else 0.19,
            "d1_rmse_error": 0.001,
            "accuracy": 0.6 + width / 1000,
            "log_loss": 0.6,
            "samples": 1000 * width,
            "sha256": "0",
            "version": "1",
            "commit": "a",
            "cpu": cpu,
            "kernel": "avx2",
        }
        results.add("net", f"{width}{cpu}", seed, net)
    results.add("failed", "odd", 0, {"label": "dense width 33", "why": "no such width"})
    net |= {"label": "peer", "options": {}, "evaluation_ns": 1.0, "cpu": "A"}
    results.add("net", "peer", 0, net)
    games = {
        "games": 4,
        "wins": 3,
        "draws": 0,
        "losses": 1,
        "points": 3.0,
        "elo": 190.0,
        "elo_low": -90.0,
        "elo_high": 400.0,
    }
    results.add("games", "64A", 0, games)
    results.add("timed games", "64A", 0, games | {"elo": 100.0})
    return folder


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """Three players, of whom the first wins all, the second all others."""
    folder = make_match(tmp_path / "league", MAKER)
    description = json.loads((folder / "description.json").read_text())
    description["options"] |= {"players": [{}, {}, {}], "gauntlet": False}
    description["nets"] = [{"role": f"player {number}", "name": name} for number, name in enumerate("abc", 1)]
    (folder / "description.json").write_text(json.dumps(description))
    lines = [
        {"job": job, "shard": 0, "start": job, "stop": job + 1, "counts": {"games": 2} | outcome_counts("wins", "wins")}
        for job in range(30)
    ]
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


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


def test_a_match_has_the_elo_of_its_pairs(match: Path) -> None:
    section = match_section({"mine": match})
    (row,) = section.charts[0].spec["data"]["values"]
    wanted = measure_strength([(2.0, 2), (1.0, 2), (1.5, 2), (2.0, 2), (0.0, 2)] * 4)
    assert [row["Elo"], row["Elo from"], row["Elo to"]] == pytest.approx(
        [wanted.elo, wanted.low, wanted.high], rel=1e-4
    )
    assert (row["games"], row["wins"], row["draws"], row["losses"]) == (40, 24, 4, 12)
    assert (row["first"], row["against"]) == ("</script>.safetensors (5,000 nodes)", "default (100 nodes)")
    assert "--nodes 5000" in row["command"]
    assert section.origins[0].machine == "One CPU, avx2"
    assert section.origins[0].seed == "7"


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
    assert [row["change"] for row in section.charts[5].spec["data"]["values"]] == ["seed 0 to 1"]
    assert [table.title for table in section.tables] == [
        "mine: the best net for so many nanoseconds",
        "mine: all nets",
        "mine: one option at a time, all else equal",
    ]
    assert section.origins[0].machine == "A, avx2; B, avx2"
    assert section.origins[0].seed == "0, 1"


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


def test_a_league_is_rated_by_its_ledger_and_named_by_its_report(league: Path) -> None:
    (chart,) = league_section({"mine": league}).charts
    rows = chart.spec["data"]["values"]
    assert [(row["player"], row["games"], row["wins"]) for row in rows] == [("a", 40, 40), ("b", 40, 20), ("c", 40, 0)]
    assert rows[0]["Elo"] > rows[1]["Elo"] == pytest.approx(0, abs=1e-6)
    (league / "league.json").write_text(json.dumps({"names": ["first", "second", "third"]}))
    section = league_section({"mine": league})
    assert [row["player"] for row in section.charts[0].spec["data"]["values"]] == ["first", "second", "third"]
    assert section.tables[1].lines[0][:3] == ["first", "second", "20 - 0 - 0"]


def test_a_training_tells_its_command_and_a_thinned_curve(training: Path) -> None:
    section = training_section({"mine": training})
    loss, accuracy, calibration, by_ply = section.charts
    values = loss.spec["data"]["values"]
    assert 200 < len(values) <= 300
    assert values[0]["command"] == "liteshogi train dense 'my data' --seed 3 --hidden 16 2 --mirror"
    assert [row["accuracy, %"] for row in accuracy.spec["data"]["values"]] == [62.5]
    assert len(calibration.spec["data"]["values"]) == 5
    assert [row["ply"] for row in by_ply.spec["data"]["values"]] == ["0-19"]
    assert isinstance(section.tables[0], Table)
    assert section.tables[0].lines[0][:3] == ["mine", "dense", "1,000"]


def test_pictures_lie_beside_the_page_and_are_linked(match: Path, tmp_path: Path) -> None:
    report = write_report(Report((match,), tmp_path / "page.html", png=True))
    (picture,) = map(Path, report["pictures"])
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") >= PNG_WIDTH
    assert f'href="{picture.name}"' in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert draw_png(match_section({"match": match}).charts[0]) == content
    with pytest.raises(ValueError, match="is there already"):
        write_report(Report((match,), tmp_path / "page.html"))


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


def test_what_has_changed_since_is_told_from_what_has_not(
    match: Path, training: Path, sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def states(*runs: Path) -> dict[str, str]:
        return {Path(check["file"]).name: check["state"] for check in verify(runs)}

    assert states(training) == {"made.json": UNRECORDED}
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.hcpe").write_bytes(bytes(38))
    options = ValueTraining(data=(data,), seed=3)
    made = describe_training(RunFolder(training), options) | {"network": hashlib.sha256(b"net").hexdigest()}
    (training / "network.safetensors").write_bytes(b"net")
    (training / "made.json").write_text(json.dumps(made))
    assert states(training) == {"network.safetensors": SAME, "data": SAME}
    assert training_section({"mine": training}).origins[0].machine == machine_of(program())
    (data / "a.hcpe").write_bytes(bytes(37) + b"1")
    assert states(training) == {"network.safetensors": SAME, "data": CHANGED}
    (data / "a.hcpe").unlink()
    (data).rmdir()
    assert states(training)["data"] == MISSING

    (match / "shard_00000.hcpe3").write_bytes(bytes(len(PAIRS)))
    net = {"role": "second", "name": "default", "sha256": "0"}
    described = json.loads((match / "description.json").read_text())
    (match / "description.json").write_text(json.dumps(described | {"nets": [net]}))
    assert states(match) == {"shard_00000.hcpe3": SAME, "default": CHANGED}
    comparison = tmp_path / "nets.json"
    digests = {"data": hashlib.sha256(b"games").hexdigest()}
    report = {"preset": "nets", "rows": [], "seeds": [], "data": "d.hcpe3", "valid": "v.hcpe3", "digests": digests}
    comparison.write_text(json.dumps(report))
    (tmp_path / "d.hcpe3").write_bytes(b"games")
    assert states(comparison) == {"d.hcpe3": SAME, "v.hcpe3": UNRECORDED}
    with pytest.raises(SystemExit) as left:
        Command((match,), verify=True).run()
    assert left.value.code == 1
    assert "default: changed" in capsys.readouterr().out
    results = Results(sweep / "points.jsonl")
    results.add("net", "32A", 0, results.lines["net", "32A", 0] | {"net": "default", "sha256": "0"})
    results.add("data", str(tmp_path / "d.hcpe3"), 0, {"of": {"sha256": digests["data"]}})
    assert states(sweep)["default"] == CHANGED
    assert states(sweep)["d.hcpe3"] == SAME


def test_files_of_a_recipe_are_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    shutil.copy(DOCS / "recipe" / "plan.toml", recipe)
    (tmp_path / "valid.hcpe3").write_bytes(b"positions")
    results = Results(recipe / "results.jsonl")
    results.describe("valid.hcpe3", Path("valid.hcpe3"))
    results.describe("valid.hcpe3", Path("valid.hcpe3"))
    results.describe("yard", Path("yard"))
    results.add("data", "older", 0, {})
    results.add("net", "a row", 0, {"net": "nets/a.safetensors", "sha256": hashlib.sha256(b"a").hexdigest()})
    results.add("net", "an older row", 0, {})
    assert [(check["file"], check["state"]) for check in verify((recipe,))] == [
        ("valid.hcpe3", SAME),
        ("older", UNRECORDED),
        ("nets/a.safetensors", MISSING),
        ("an older row", UNRECORDED),
    ]
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a.safetensors").write_bytes(b"a")
    (tmp_path / "valid.hcpe3").write_bytes(b"others")
    assert [check["state"] for check in verify((recipe,))] == [CHANGED, UNRECORDED, SAME, UNRECORDED]


def test_nets_and_records_of_a_loop_are_told_from_others(loop: Path) -> None:
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("first", "second")}
    for number, name in enumerate(("second", "first", "later")):
        generation = loop / f"generation-{number:03}"
        generation.mkdir()
        (generation / "net.safetensors").write_bytes(name.encode())
    gate = make_match(loop / "generation-001" / "gate", MAKER)
    described = json.loads((gate / "description.json").read_text())
    nets = [{"role": role, "name": "net.safetensors", "sha256": digest} for role, digest in digests.items()]
    (gate / "description.json").write_text(json.dumps(described | {"nets": nets}))
    (gate / "shard_00000.hcpe3").write_bytes(bytes(len(PAIRS) + 1))

    def states() -> dict[str, str]:
        return {check["file"]: check["state"] for check in verify((loop,))}

    assert states() == {
        "generation-000/net.safetensors": SAME,
        "generation-001/net.safetensors": SAME,
        "generation-001/gate/shard_00000.hcpe3": CHANGED,
        "generation-002/net.safetensors": UNRECORDED,
    }
    (loop / "generation-000" / "net.safetensors").write_bytes(b"another")
    assert states()["generation-000/net.safetensors"] == CHANGED


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
