"""The recipe's tables: the plan that is committed, what is kept, positions of one kind, and what is drawn."""

from __future__ import annotations

import hashlib
import json
import signal
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from experiments.jobs.results import Results
from experiments.jobs.verb import Verbs
from experiments.labels.study import SEARCH, STATIC, Studio
from experiments.recipe import measure, work
from experiments.recipe.data import make_cut, make_searched, make_tree
from experiments.recipe.pictures import draw_all
from experiments.recipe.plan import Data, Measures, Plan, Row, read_plan
from experiments.recipe.tables import correlation, measured, write_tables
from lite.datasets.provenance import digest_of
from lite.program import libraries, program
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype, record_files
from liteshogi.commands.recipe import run as verb
from liteshogi.commands.recipe.draw import Command as Draw
from liteshogi.commands.recipe.run import Command
from search.alphabeta.parameters import EVERY_STEP, STEPS
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file
from search.rules.huffman import HCP
from search.system.folder_lock import FolderLock, hold

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "recipe"
PLANS = "plan.toml", "volume/plan.toml"
SAMPLE = ROOT / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture
def plan() -> Plan:
    return read_plan(PAGE / "plan.toml")


def records_of(path: Path) -> np.ndarray:
    found = []
    for file in (RecordFile(one, check_moves=False) for one in record_files([path])):
        found += [position_records(file.read_block(block, Refusals()), HCPE, HCP) for block in file.blocks]
    return np.concatenate(found).view(hcpe_dtype).reshape(-1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games.hcpe3").symlink_to(SAMPLE)
    (tmp_path / "net.safetensors").symlink_to(network_file("default").absolute())
    records_of(SAMPLE)[:300].tofile(tmp_path / "positions.hcpe")
    return tmp_path


@pytest.mark.parametrize("name", PLANS)
def test_every_set_of_a_plan_is_made_or_named(name: str) -> None:
    plan = read_plan(PAGE / name)
    there = {"random", "tree", "tree_suisho", "settled", "train-00.hcpe3", "valid.hcpe3"}
    wanted = {name for row in plan.rows for name in row.data} | set(plan.measures.kinds.values())
    wanted |= {name for data in plan.data.values() for name in data.sources(plan.data)}
    assert wanted <= there | set(plan.data)
    assert set(plan.data) <= wanted


MEASURES = """[measures]
teacher = "default"
residual = "r"
yardstick = "y"
valid = "v"
opponent = "default"
nodes = 10
games = 2
openings = "o"
win_score = 3000
"""
ROW = '[shapes]\ns = ["dense"]\n[[row]]\nname = "a"\nshape = "s"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[row]]\nname = "a"\ntables = []\nshape = "none"\n', "needs one of `net` and `shape`"),
        ('[[row]]\nname = "a"\ntables = []\nnet = "n"\nafter = "b"\n', "an earlier row"),
        (
            '[[row]]\nname = "b"\ntables = []\nnet = "n"\n[[row]]\nname = "a"\ntables = []\nnet = "n"\nafter = "b"\n',
            "an earlier row that is trained",
        ),
        ('[data.a]\ncut = ["b"]\ntree = "c"\n', "exactly one of"),
        ('[data.a]\ncuts = ["b"]\n', "unknown cuts"),
        ('[data.a]\ncut = ["a"]\npositions = 9\n', "data 'a': is made of itself"),
        (
            '[data.a]\ncut = ["x", "b"]\npositions = 9\n[data.b]\ncommand = ["expand", "a"]\n',
            "data '.': is made of itself",
        ),
        (
            '[data.a]\ntree = "b"\nwhere = "mainn"\npositions = 9\n',
            "data 'a': where = 'mainn': must be one of main, quie",
        ),
        ('[data.a]\ntree = "b"\nwhere = "main"\nevery = 0\npositions = 9\n', "data 'a': every = 0: must be at least 1"),
        ('[data.a]\ntree = "b"\nwhere = "main"\n', "data 'a': positions = 0: must be at least 1"),
        ('[data.a]\ncut = ["b"]\n', "data 'a': positions = 0: must be at least 1"),
        ('[data.a]\nsearch = "b"\n', "data 'a': nodes = 0: must be at least 1"),
        (
            '[data.a]\nsearch = "b"\nnodes = 9\nwithout = ["lmp"]\n',
            "data 'a': without 'lmp': no step of the search; the",
        ),
        ('[data.a]\nsearch = "b"\nnodes = 9\npositions = 9\n', "data 'a': positions: is nothing that `search` is told"),
        (ROW + "tables = []\nseeds = []\n", "row 'a': seeds: name at least one, and none twice"),
        (ROW + "tables = []\nseeds = [1, 1]\n", "row 'a': seeds: name at least one, and none twice"),
        (ROW + 'tables = ["results"]\n', "row 'a': words: the table `results` needs `--lambda` and a number"),
        (ROW + 'tables = ["results"]\nwords = ["--lambda"]\n', "row 'a': words: the table `results` needs `--lambda`"),
        (ROW + 'tables = ["results"]\nwords = ["--lambda", "x"]\n', "row 'a': words: the table `results` needs"),
        ('[[row]]\nname = "a"\ntables = ["volume"]\nnet = "n"\n', "row 'a': net: the table `volume` needs a `shape`"),
        (
            ROW + 'tables = ["kinds"]\n',
            "row 'a': tables: `kinds` needs an entry in .measures.kinds. for played, random, ",
        ),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "plan.toml").write_text(MEASURES + text)
    with pytest.raises(ValueError, match=f"plan.toml: .*{words}"):
        read_plan(tmp_path / "plan.toml")


def test_results_outlive_a_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Results(path).add("net", "a", 0, {"d1_rmse": 0.1})
    with path.open("a") as file:
        file.write('{"kind": "net", "name": "b"')
    again = Results(path)
    again.add("net", "b", 1, {"d1_rmse": 0.2})
    assert [line["name"] for line in map(json.loads, path.read_text().splitlines())] == ["a", "b"]
    assert Results(path).find("net", "b", 1) == {"kind": "net", "name": "b", "seed": 1, "d1_rmse": 0.2}


def test_results_of_any_name_are_found_again(tmp_path: Path) -> None:
    """JSON lets separators of lines stand in a text that ends no line of the file."""
    name = "one\u2028two\x85three"
    Results(tmp_path / "results.jsonl").add("net", name, 0, {"loss": 0.5})
    assert Results(tmp_path / "results.jsonl").find("net", name) is not None


def test_nets_of_no_kinds_are_not_in_their_table(plan: Plan, tmp_path: Path) -> None:
    """As where the plan had none when they were measured."""
    results = Results(tmp_path / "results.jsonl")
    row = next(row for row in plan.rows if "kinds" in row.tables)
    results.add("net", row.name, row.seeds[0], {"d1_rmse": 0.1, "residual": 0.1, "accuracy": 0.6})
    with pytest.raises(ValueError, match=rf"results\.jsonl: net '{row.name}', seed 0: was not measured on all of the"):
        measured(plan, results, "kinds")


def test_a_cut_is_even(folder: Path) -> None:
    whole = records_of(folder / "positions.hcpe")
    whole[:100].tofile(folder / "first.hcpe")
    whole[100:].tofile(folder / "rest.hcpe")
    assert make_cut(Data("cut.hcpe", cut=("first.hcpe", "rest.hcpe"), positions=100), folder) == 100
    assert np.array_equal(records_of(folder / "cut.hcpe"), whole[::3])
    with pytest.raises(ValueError, match="301 positions are wanted of 300"):
        make_cut(Data("more.hcpe", cut=("positions.hcpe",), positions=301), folder)


@pytest.mark.parametrize("where", ["main", "quiescence"])
def test_tree_positions_have_the_word_of_the_net(folder: Path, where: str) -> None:
    made = make_tree(Data("tree", tree="games.hcpe3", where=where, every=40, positions=200), folder, "default", 1)
    records = records_of(folder / "tree")
    assert made == len(records) >= 200
    assert len(np.unique(records["hcp"], axis=0)) == len(records)
    studio = Studio(load_network("default"))
    assert np.array_equal(studio.study(np.ascontiguousarray(records["hcp"]), STATIC)[0], records["score"])


def test_trees_of_a_source_that_tells_no_more_are_those_there_are(folder: Path, monkeypatch) -> None:
    """Its end is in sight, however little it brings on the way there."""
    monkeypatch.setattr("experiments.recipe.data.TREE_SOURCES", 1)
    monkeypatch.setattr("experiments.recipe.data.TREE_NODES", 30)
    np.repeat(records_of(folder / "positions.hcpe")[:1], 40).tofile(folder / "same.hcpe")
    made = make_tree(Data("tree", tree="same.hcpe", where="quiescence", positions=10_000), folder, "net.safetensors", 1)
    assert made == len(records_of(folder / "tree")) > 0


def test_labels_of_searches_without_a_step(folder: Path) -> None:
    wanted = records_of(folder / "positions.hcpe")[:40]
    wanted.tofile(folder / "few.hcpe")
    data = Data("labels", search="few.hcpe", nodes=300, without=("late move pruning",) * 2)
    make_searched(data, folder, "default", 1)
    found = records_of(folder / "labels")
    assert np.array_equal(found["hcp"], wanted["hcp"])
    studio = Studio(load_network("default"))
    codes = np.ascontiguousarray(wanted["hcp"])
    pruned = studio.study(codes, SEARCH, 300)[0]
    studio.forget()
    studio._thread.record["steps"] = EVERY_STEP & ~(1 << STEPS.index("late move pruning"))
    assert np.array_equal(found["score"], studio.study(codes, SEARCH, 300)[0])
    assert not np.array_equal(found["score"], pruned)


def test_a_row_keeps_what_it_is_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures = Measures("net.safetensors", "", "", "", "default", 1, 2, "openings.sfen", 9)
    row = Row("a", (), shape="dense", data=("positions.hcpe",), seeds=(3,))
    monkeypatch.setattr(work, "train", lambda *_: {"samples": 1})
    monkeypatch.setattr(work, "measure", lambda *_: {"d1_rmse": 0.1})
    (folder / "nets").mkdir()
    (folder / "nets" / "a-3.safetensors").write_bytes(b"net")
    results = Results(folder / "results.jsonl")
    work.work_through(Plan(measures, {"dense": []}, {}, (row,)), results, folder, (), True)
    net = results.lines["net", "a", 3]
    assert (net["net"], net["sha256"]) == ("nets/a-3.safetensors", hashlib.sha256(b"net").hexdigest())
    assert net["data"] == {"positions.hcpe": digest_of(folder / "positions.hcpe")}
    assert net.items() >= (program() | libraries()).items()
    given = {name: line["sha256"] for (kind, name, _), line in results.lines.items() if kind == "file"}
    assert given == {name: digest_of(network_file("default")) for name in ("net.safetensors", "default")}


def test_a_training_that_a_killed_run_has_left_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it saves meanwhile is gone on with, and the net is folded on the plan's held-out games."""
    row, said = Row("a", (), shape="dense", data=("positions.hcpe",)), []
    run = folder / "nets" / "a-0"
    lock = FolderLock(run)
    lock.take()

    def end() -> None:
        (run / "state.safetensors").touch()
        lock.release()

    def trained(_: Verbs, words: list[str], where: Path) -> tuple[str, dict[str, float]]:
        said.append(words)
        lines = ({"step": 9, "learnt": 63}, {"step": 10, "learnt": 70}, {"step": 10, "loss": 0.5})
        (run / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (run / "config.json").write_text('{"batch-size": 8, "epochs": 1}')
        return "", {"seconds": 1.0}

    monkeypatch.setattr(Verbs, "run", trained)
    monkeypatch.setattr(measure, "fold_file", lambda run, net, data, *_, **__: {"mean_error": data[0].name})
    Timer(0.2, end).start()
    figures = measure.train(row, ["dense"], 0, "held-out.hcpe3", folder)
    assert [words[-1] for words in said] == ["--resume"]
    assert figures == {"seconds": 1.0, "samples": 70, "epochs": 1, "rounding": "held-out.hcpe3", "resumed": True}


@pytest.mark.parametrize("missing", ["residual", "yardstick", "valid", "opponent", "openings"])
def test_what_is_measured_by_must_be_there(folder: Path, missing: str) -> None:
    """Before anything is made."""
    there = {"residual": "games.hcpe3", "yardstick": "games.hcpe3", "valid": "games.hcpe3", "openings": "games.hcpe3"}
    named = there | {"teacher": "net.safetensors", "opponent": "default"} | {missing: "none.safetensors"}
    plan = Plan(Measures(**named, nodes=1, games=2, win_score=9), {}, {}, (Row("a", ("t",), net="none", games=True),))
    results = Results(folder / "results.jsonl")
    with pytest.raises(
        FileNotFoundError, match=r"none\.safetensors: there is no such file, by which the plan measures"
    ):
        work.work_through(plan, results, folder, (), True)
    assert not (folder / "nets").exists()
    assert not results.lines


def test_all_data_of_a_command_are_made_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that lie there or are missing come before its options; the value of an option is no set."""
    made = Data("made", command=("relabel", "a", "games.hcpe3", "--label", "search", "--seed", "2", "b"))
    asked = {name: Data(name, command=("relabel", "games.hcpe3")) for name in ("a", "b", "search")}
    plan = Plan(Measures("", "", "", "", "", 0, 0, "", 0), {}, {"made": made, **asked}, ())
    assert made.sources(plan.data) == ("a", "games.hcpe3", "b")
    began = []

    def run_alone(_: list[str], place: Path, __: Path) -> tuple[str, dict[str, float]]:
        began.append(place.name)
        (folder / place.name).symlink_to(SAMPLE)
        return "", {}

    monkeypatch.setattr(work, "run_alone", run_alone)
    work.make("made", plan, Results(folder / "results.jsonl"), folder)
    assert began == ["a", "b", "made"]


def test_what_a_training_begins_with_is_trained_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever table it is of, and of every seed; each once."""
    rows = Row("base", ("one",), shape="s"), Row("two", ("two",), shape="s", after="base", seeds=(0, 1))
    there = {"residual": "games.hcpe3", "yardstick": "games.hcpe3", "valid": "games.hcpe3", "openings": "games.hcpe3"}
    measures = Measures(**there, teacher="default", opponent="default", nodes=1, games=2, win_score=9)
    plan = Plan(measures, {"s": ["dense"]}, {}, rows)
    trained: list[tuple[str, int]] = []

    def train(row: Row, _: list[str], seed: int, *__: object) -> dict[str, int]:
        trained.append((row.name, seed))
        Path(measure.net_of(row, seed, folder)).write_bytes(b"net")
        return {}

    monkeypatch.setattr(work, "train", train)
    monkeypatch.setattr(work, "measure", lambda *_: {})
    results = Results(folder / "results.jsonl")
    for _ in range(2):
        work.work_through(plan, results, folder, ("two",), False)
    assert trained == [("base", 0), ("two", 0), ("base", 1), ("two", 1)]


def test_what_would_do_nothing_is_refused(tmp_path: Path) -> None:
    results, page = tmp_path / "results.jsonl", tmp_path / "page.md"
    with pytest.raises(ValueError, match=r"--only kind: the plan has no such table; there are .*kinds"):
        Command(tmp_path / "work", plan=PAGE / "plan.toml", results=results, only=("kinds", "kind")).run()
    results.unlink()
    page.write_text("<!-- table kinds -->\nkept\n<!-- end -->\n")
    with pytest.raises(FileNotFoundError, match=r"results\.jsonl: there is no such file; liteshogi recipe run"):
        Draw(page=page, plan=PAGE / "plan.toml", results=results).run()
    assert "kept" in page.read_text()


def test_a_request_to_end_is_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So what is under way is told to end, too."""
    handlers = []
    monkeypatch.setattr(verb, "work_through", lambda *_: handlers.append(signal.getsignal(signal.SIGTERM)))
    Command(tmp_path / "work", plan=PAGE / "plan.toml", results=tmp_path / "results.jsonl").run()
    assert handlers == [signal.default_int_handler]


def invented(plan: Plan, path: Path) -> Results:
    """Results of every row, whose strength goes with d1-RMSE alone."""
    results, random = Results(path), np.random.default_rng(1)
    for number, row in enumerate(plan.rows):
        d1 = 0.1 + 0.001 * number
        kinds = {f"residual_{kind}": random.uniform(0.04, 0.1) for kind in plan.measures.kinds}
        figures = {"residual": random.uniform(0.04, 0.1), "d1_rmse": d1, "d1_rmse_error": 0.001, "accuracy": 0.67}
        for seed in row.seeds:
            figures["accuracy"] = random.uniform(0.66, 0.68)
            results.add("net", row.name, seed, figures | kinds | {"samples": 8e6 * (1 + number % 3), "epochs": 8})
        if row.games:
            elo = 150.0 - 2 * number
            low = elo - 40 if number else None  # an interval that reaches as far as losing every game
            results.add("games", row.name, row.seeds[0], {"elo": elo, "elo_low": low, "elo_high": elo + 40})
    return results


def test_tables_stand_where_they_are_marked(plan: Plan, tmp_path: Path) -> None:
    results = invented(plan, tmp_path / "results.jsonl")
    page = tmp_path / "page.md"
    page.write_text(
        "Kinds\n<!-- table kinds -->\nold\n<!-- end -->\nafter <!-- a remark -->\n".replace(" <!-- a remark -->", "")
    )
    write_tables(page, plan, results)
    first = page.read_text()
    assert "| played, another seed |" in first
    assert "old" not in first
    assert first.endswith("<!-- end -->\nafter\n")
    write_tables(page, plan, results)
    assert page.read_text() == first
    page.write_text("<!-- table games -->\n<!-- end -->\n")
    write_tables(page, plan, results)
    assert "| +150 (below +190) |" in page.read_text()
    assert page.read_text().count(" +- 40 |") == sum(row.games for row in plan.rows) - 1
    page.write_text("<!-- table kinds -->\n")
    with pytest.raises(ValueError, match="closed by"):
        write_tables(page, plan, results)
    for unmarked in ("", "Kinds\n", "Kinds\n<!-- end -->\n"):
        page.write_text(unmarked)
        with pytest.raises(ValueError, match=r"page\.md: has no mark for a table; put `<!-- table NAME -->`"):
            write_tables(page, plan, results)
    page.write_bytes(b"\xff<!-- table kinds -->")
    with pytest.raises(ValueError, match=r"page\.md"):
        write_tables(page, plan, results)


@pytest.mark.parametrize(
    ("name", "tables"), [(PLANS[0], ["kinds", "results", "labels", "games"]), (PLANS[1], ["volume", "games"])]
)
def test_pictures_of_all_tables(name: str, tables: list[str], tmp_path: Path) -> None:
    plan = read_plan(PAGE / name)
    made = draw_all(plan, invented(plan, tmp_path / "results.jsonl"), tmp_path)
    assert [path.stem for path in made] == tables
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_correlation_finds_what_goes_with_games(plan: Plan, tmp_path: Path) -> None:
    rows = measured(plan, invented(plan, tmp_path / "results.jsonl"), "games")
    value, error = correlation(rows, "d1_rmse")
    assert value == pytest.approx(-1)
    assert 0 < error < 0.3
    assert abs(correlation(rows, "residual")[0]) < 0.6


def test_results_are_one_runs_at_a_time(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    run = Command(tmp_path / "work", plan=PAGE / "plan.toml", results=results)
    with (
        hold(results, "name others"),
        pytest.raises(ValueError, match=r"results.jsonl: another run is at work on it; wait for its end, or name"),
    ):
        run.run()
