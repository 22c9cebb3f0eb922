"""Expand and relabel: the requested records are made with any number of workers, and runs are resumed."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import cshogi
import numpy as np
import pytest

from experiments.factory.expand import (
    LEAF,
    PLAYED,
    RANDOM,
    SETTLED,
    TREE_MAIN,
    TREE_QUIESCENCE,
    ExpandJob,
    ExpandTask,
    ExpandWorker,
    Mixture,
    _movers_result,
)
from experiments.factory.expansion import Expansion, Relabelling, UnmetPositions, expand, relabel
from experiments.factory.labelling import Labelling
from experiments.factory.seen import Seen, code_hashes
from experiments.jobs.produce import Production
from experiments.jobs.protocol import Product
from experiments.jobs.totals_text import as_text
from experiments.jobs.workforce import Workforce
from experiments.labels.labels import NetworkLabels, blend_results
from experiments.labels.study import QUIESCENCE, SEARCH, STATIC, Studio, sample_dtype
from experiments.labels.usi_labels import EngineLabels
from experiments.report.verify import SAME, verify
from lite.datasets.provenance import sha256_of
from lite.datasets.stat import describe
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_GAME, NO_RESULT, NO_SCORE, hcpe_dtype
from lite.run_folder import RunPlan, read_run
from search.alphabeta.sampling import MAIN
from search.alphabeta.sampling import QUIESCENCE as QUIESCENT
from search.evaluation.network_file import load_network, save_network
from search.system.options import OptionError

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
MIXTURE = Mixture(
    played=0.5, random=1.5, random_moves=3, tree=1.0, tree_nodes=300, leaf=0.3, leaf_nodes=60, settled=0.4
)
STUB = """
import sys
silence, move = 0, "7g7f"
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "usi":
        print("id name stub\\noption name Style type string default x\\nusiok")
    elif word == "isready":
        print("readyok")
    elif word == "setoption":
        silence = 5 if "value silent" in line else 0
        move = "none" if "value none" in line else "7g7f"
    elif word == "go":
        if silence:
            silence -= 1
            print("bestmove 7g7f", flush=True)
            continue
        assert line.split()[1:] == ["nodes", "9"], line
        print("info depth 1 score cp 77 pv 7g7f\\ninfo depth 2 multipv 2 score cp 5\\nbestmove", move)
    elif word == "quit":
        break
    sys.stdout.flush()
"""


@pytest.fixture
def stub(tmp_path) -> Path:
    """An engine that gives no score for five positions with Style=silent, and no moves with Style=none."""
    program = tmp_path / "stub"
    program.write_text(f"#!{sys.executable}\n{STUB}")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A file of a few hundred recorded positions."""
    file = RecordFile(SAMPLE, block_positions=400)
    found = file.read_block(file.blocks[0], Refusals())
    path = tmp_path_factory.mktemp("records") / "some.hcpe"
    path.write_bytes(position_records(found, "hcpe", 0).tobytes())
    return path


def records_in(folder: Path) -> np.ndarray:
    return np.concatenate([np.fromfile(path, hcpe_dtype) for path in sorted(folder.glob("*.hcpe"))])


def test_every_kind_of_position_is_made_labelled_and_described(source, tmp_path):
    report = expand(Expansion((source,), tmp_path / "one", mixture=MIXTURE, workforce=Workforce(1)))
    records = records_in(tmp_path / "one")
    count = len(np.fromfile(source, hcpe_dtype))
    assert report.count("positions") == len(records)
    kinds = {name: report.count(f"made {name}") / count for name in ("played", "random moves", "leaf", "settled")}
    assert kinds == pytest.approx({"played": 0.5, "random moves": 1.5, "leaf": 0.3, "settled": 0.4}, abs=0.12)
    assert report.count("made tree, main search") > 0
    assert report.count("made tree, quiescence") > count / 4
    assert len(np.unique(code_hashes(records["hcp"]))) == len(records)
    scores, _ = Studio(load_network("default")).study(np.ascontiguousarray(records["hcp"]), STATIC)
    assert records["score"].tolist() == scores.tolist()
    played = np.isin(code_hashes(records["hcp"]), code_hashes(np.fromfile(source, hcpe_dtype)["hcp"]))
    assert (records["padding"][~played] == NO_RESULT).all()
    assert (records["result"][~played] == 0).all()
    described = describe((tmp_path / "one",))
    assert described.positions == len(records)
    assert described.results["no game behind it"] == int((records["padding"] == NO_RESULT).sum())
    file = RecordFile(next((tmp_path / "one").glob("*.hcpe")))
    kind = file.read_block(file.blocks[0], Refusals())["kind_of_result"]
    assert ((kind == NO_GAME) == (records["padding"][: len(kind)] == NO_RESULT)).all()


def test_each_kind_of_position_is_made_by_its_options(source, monkeypatch):
    """Replace walks, searches and labels by functions that record their arguments and return the same positions."""
    asked: list[tuple[object, ...]] = []

    def walked(codes, least, most, seed):
        asked.append(("walk", least, most, seed))
        return codes, np.zeros(len(codes), np.int16), np.arange(len(codes))

    def sampled(codes, nodes, each, _):
        asked.append(("tree", len(codes), nodes, each))
        found = np.zeros(2, sample_dtype)
        found["where"] = MAIN, QUIESCENT
        return found

    def led(codes, how, nodes=0):
        asked.append(("leaf", how, nodes))
        return codes[3:], np.arange(3, len(codes))

    def labelled(codes):
        return np.full(len(codes), 80, np.int16), np.zeros(len(codes), np.uint16)

    monkeypatch.setattr("experiments.factory.expand.walk", walked)
    sources, net = np.fromfile(source, hcpe_dtype)[:64], load_network("default")
    sources["result"], sources["padding"] = np.arange(64) % 3, 0
    mixture = Mixture(0.5, 0.7, 3, tree=1.0, tree_nodes=300, tree_each=16, leaf=0.3, leaf_nodes=60, settled=0.4)
    task = ExpandTask(mixture, NetworkLabels(net), net, 0.0, 600.0, 1, distinct=False)

    def worker_of(task: ExpandTask) -> ExpandWorker:
        worker = task.open()
        forget = {"forget": lambda: asked.append(("forgets",))}
        worker._studio = SimpleNamespace(samples=sampled, leaves=led, **forget)  # type: ignore[assignment]
        worker._labeller = SimpleNamespace(label=labelled, **forget)
        return worker

    worker = worker_of(task)
    made = {int(np.max(kinds)): (codes, kinds, places) for codes, kinds, places in worker._made(
        ExpandJob(0, 0, sources), np.random.default_rng(1)
    )}  # fmt: skip
    assert made.pop(TREE_QUIESCENCE)[1].tolist() == [TREE_MAIN, TREE_QUIESCENCE]
    assert set(made) == {PLAYED, RANDOM, LEAF, SETTLED}
    for codes, _, places in made.values():
        assert (sources["hcp"][places] == codes).all()
        assert 0 < len(codes) < 64
    calls = [one[:3] if one[0] == "walk" else one for one in asked]
    (tree,) = (one for one in calls if one[0] == "tree")
    assert 0 < int(tree[1]) < 16  # 16 samples each of 64 positions at most
    assert calls == [
        ("walk", 1, 3),
        ("tree", tree[1], 300, 16),
        ("leaf", SEARCH, 60),
        ("walk", 0, 3),
        ("leaf", QUIESCENCE, 0),
    ]
    asked.clear()
    records = np.frombuffer(worker.run(ExpandJob(0, 0, sources)).content, hcpe_dtype)
    played = records["padding"] != NO_RESULT
    of = {source["hcp"].tobytes(): source for source in sources}
    for record in records[played]:
        recorded = of[record["hcp"].tobytes()]
        assert (record["move"], record["result"]) == (recorded["move"], recorded["result"])
    assert not records["move"][~played].any()
    assert asked[:2] == [("forgets",), ("forgets",)]
    seeds = [one[3] for one in asked if one[0] == "walk"]
    for other, job in ((replace(task, seed=2), 0), (task, 1), (task, 0)):
        asked.clear()
        again = np.frombuffer(worker_of(other).run(ExpandJob(job, 1, sources)).content, hcpe_dtype)
        assert (again["padding"] == NO_RESULT).all()  # recorded positions are made only once
        seeds += [one[3] for one in asked if one[0] == "walk"]
    assert len(set(seeds)) == 8
    mixed = replace(task, mixture=Mixture(1.0, 0.0), result_share=0.3, cp_per_logit=100.0)
    records = np.frombuffer(worker_of(mixed).run(ExpandJob(0, 0, sources)).content, hcpe_dtype)
    assert records["score"].tolist() == blend_results(labelled(sources)[0], _movers_result(sources), 0.3, 100).tolist()
    each = replace(mixed, distinct=True)
    shuffled = np.frombuffer(worker_of(each).run(ExpandJob(0, 0, sources)).content, hcpe_dtype)
    in_order = [code.tobytes() for code in records["hcp"]]
    assert in_order != [code.tobytes() for code in shuffled["hcp"]]
    assert {*in_order} == {code.tobytes() for code in shuffled["hcp"]}


def test_positions_met_before_are_left_out_and_counted(source, tmp_path):
    records = np.fromfile(source, hcpe_dtype)
    records = records[np.unique(code_hashes(records["hcp"]), return_index=True)[1]]
    unmet = UnmetPositions(tmp_path, Seen(1))
    for part, met in ((records[:20], 0), (records[5:30], 15)):
        found = unmet(Product(part.tobytes(), {"sources": 3}))
        assert found.counts == {"sources": 3, "positions": len(part) - met, "met before": met}
        assert found.content == part[met:].tobytes()


def test_results_are_from_the_view_of_the_mover():
    sources = np.zeros(6, hcpe_dtype)
    sources["result"], sources["hcp"][:, 0] = [0, 1, 2] * 2, [0, 0, 0, 1, 1, 1]
    assert _movers_result(sources).tolist() == [0.5, 1, 0, 0.5, 0, 1]


def test_all_options_reach_the_task_and_its_description(source, tmp_path, monkeypatch):
    made: list[tuple[object, ...]] = []
    empty = Production(tmp_path, {}, "")
    monkeypatch.setattr("experiments.factory.expansion.produce", lambda *given, **_: made.append(given) or empty)
    labels = Labelling("search", "lite-16-4-32", depth=3, result_share=0.3, cp_per_logit=500.0)
    expand(Expansion((source,), tmp_path, labels, 7, mixture=MIXTURE, searched="dense-64-16"))
    plan, task = made[0][1:3]
    assert isinstance(plan, RunPlan)
    assert isinstance(task, ExpandTask)
    assert (task.mixture, task.seed, task.result_share, task.cp_per_logit) == (MIXTURE, 7, 0.3, 500)
    assert isinstance(task.labels, NetworkLabels)
    assert (task.labels.label, task.labels.nodes, task.labels.depth) == ("search", 0, 3)
    assert np.array_equal(task.labels.network.rows, load_network("lite-16-4-32").rows)
    assert np.array_equal(task.searched.rows, load_network("dense-64-16").rows)
    roles = [(net.role, net.name) for net in plan.nets]
    assert roles == [("net", "lite-16-4-32"), ("searched", "dense-64-16")]
    left_out = {"net", "second_net", "batch_size", "device", "discount"}
    fields = {*asdict(Labelling()), *asdict(Mixture()), "seed"} - left_out
    assert set(plan.options) == fields
    asked = Labelling("engine", nodes=2, depth=3, engine="e", engine_option=("A=b",)).source()
    assert asked == EngineLabels("e", ("A=b",), 2, 3)


def test_results_are_mixed_in_on_the_scale_of_the_network(tmp_path):
    net = tmp_path / "net.safetensors"
    save_network(replace(load_network("lite-16-4-32"), cp_per_logit=900.0), net)
    mixed = Labelling(net=str(net), result_share=0.3)
    assert mixed.scale() == mixed.deciding()["cp_per_logit"] == 900
    assert replace(mixed, cp_per_logit=500.0).scale() == 500
    for changes in ({"result_share": 0.0}, {"second_net": "default"}):
        assert replace(mixed, **changes).scale() == 600


def test_positions_in_check_are_left_out_by_every_labeller(source, tmp_path):
    labels, played = Labelling("search", nodes=1), Mixture(played=1.0, random=0.0)
    report = expand(Expansion((source,), tmp_path, labels, mixture=played, workforce=Workforce(1)))
    made = {code.tobytes() for code in records_in(tmp_path)["hcp"]}
    before = np.fromfile(source, hcpe_dtype)["hcp"]
    assert made == {code.tobytes() for code in before if not cshogi_board(code).is_check()}
    assert report.count("made played") == len(made) < len({code.tobytes() for code in before})


def test_workers_and_interruptions_do_not_change_the_positions(source, tmp_path):
    labels = Labelling("search", nodes=50)

    def made(name: str, workers: int, positions: int | None) -> None:
        expand(
            Expansion(
                (source,), tmp_path / name, labels, mixture=MIXTURE, positions=positions, workforce=Workforce(workers)
            )
        )

    made("one", 1, 5000)
    made("two", 2, 5000)
    made("cut", 2, 100)
    made("cut", 1, 5000)
    first = np.sort(code_hashes(records_in(tmp_path / "one")["hcp"]))
    for other in ("two", "cut"):
        again = records_in(tmp_path / other)
        # Jobs finish in any order, so the last ones before the goal differ.
        common = np.isin(np.sort(code_hashes(again["hcp"])), first).mean()
        assert common > 0.75, other
        assert len(np.unique(code_hashes(again["hcp"]))) == len(again)
    with pytest.raises(ValueError, match=r"`label` \"search\", not \"static\"; .*another folder"):
        expand(Expansion((source,), tmp_path / "one", Labelling("static"), mixture=MIXTURE, positions=6000))


def test_without_random_parts_the_data_are_read_once(source, tmp_path):
    only = Mixture(played=1.0, random=0.0, leaf=0.2, leaf_nodes=30)
    report = expand(Expansion((source,), tmp_path, mixture=only, positions=10**9, workforce=Workforce(1)))
    assert report.ended == "jobs"
    assert report.count("sources") == len(np.fromfile(source, hcpe_dtype))


def test_relabelling_keeps_positions_results_and_moves(source, tmp_path):
    before = np.fromfile(source, hcpe_dtype)
    relabel(Relabelling((source,), tmp_path / "searched", Labelling("search", nodes=40), workforce=Workforce(2)))
    after = records_in(tmp_path / "searched")
    assert after["hcp"].tolist() == before["hcp"].tolist()
    assert after["result"].tolist() == before["result"].tolist()
    assert (after["move"] > 0).all()
    assert after["score"].tolist() != before["score"].tolist()
    report = relabel(Relabelling((source,), tmp_path / "static", workforce=Workforce(1)))
    checks = np.array([cshogi_board(code).is_check() for code in before["hcp"]])
    assert report.count("unlabelled") == checks.sum() > 0
    after = records_in(tmp_path / "static")
    assert after["hcp"].tolist() == before["hcp"][~checks].tolist()
    assert after["move"].tolist() == before["move"][~checks].tolist()


def test_recorded_scores_are_kept_where_quiescence_changes_nothing(source, tmp_path):
    before = np.fromfile(source, hcpe_dtype)
    before["score"] = np.arange(len(before)) % 900
    before["padding"][:5], before["score"][:5] = NO_SCORE, 0
    path = tmp_path / "scored.hcpe"
    before.tofile(path)
    label = Labelling("recorded", net="squared-64-16")
    relabel(Relabelling((path,), tmp_path / "settled", label, workforce=Workforce(2, in_order=True)))
    studio = Studio(load_network("squared-64-16"))
    static, _ = studio.study(before["hcp"], STATIC)
    quiescence, _ = studio.study(before["hcp"], QUIESCENCE)
    settled = np.abs(static.astype(int) - quiescence) <= 3
    settled &= np.array([not cshogi_board(code).is_check() for code in before["hcp"]])
    settled[:5] = False
    assert 0 < settled.sum() < len(before)
    after = records_in(tmp_path / "settled")
    for name in ("hcp", "score", "move", "result"):
        assert after[name].tolist() == before[settled][name].tolist()


@pytest.mark.parametrize("changes", [{"mirrored": True}, {"second_net": "default"}, {"result_share": 0.1}])
def test_recorded_scores_are_not_averaged(source, tmp_path, changes):
    label = replace(Labelling("recorded"), **changes)
    with pytest.raises(OptionError, match=next(iter(changes))):
        relabel(Relabelling((source,), tmp_path / "out", label))


def test_unreadable_records_are_reported_once(source, tmp_path, capsys):
    damaged = np.fromfile(source, hcpe_dtype)[:300]
    damaged["hcp"][[7, 250]] = 255
    path = tmp_path / "damaged.hcpe"
    path.write_bytes(damaged.tobytes() + b"cut")
    alone, goal = Workforce(1), 400
    for work in (
        lambda: relabel(Relabelling((path,), tmp_path / "labelled", workforce=alone)),
        lambda: expand(Expansion((path,), tmp_path / "more", mixture=MIXTURE, positions=goal, workforce=alone)),
    ):
        report = work()
        assert sum(report.refusals.figures().refused.values()) == 3
        assert [line.split(":")[0] for line in report.refusals.figures().first_refused] == [
            f"{path} record {number}" for number in (301, 8, 251)
        ]
        said = capsys.readouterr().err
        assert said.count("left out: 301 records read, 3 refused (") == 1
        assert "refused" not in as_text(report)


def cshogi_board(code: np.ndarray) -> cshogi.Board:
    board = cshogi.Board()
    board.set_hcp(code.copy())
    return board


def test_positions_without_a_game_get_no_result(source, tmp_path):
    made = np.fromfile(source, hcpe_dtype)[:60]
    made["padding"][::2], made["result"][::2] = NO_RESULT, 0
    path = tmp_path / "made.hcpe"
    made.tofile(path)
    for share, place in ((0.0, "plain"), (0.5, "blended")):
        options = Labelling("search", nodes=20, result_share=share)
        relabel(Relabelling((path,), tmp_path / place, labels=options, workforce=Workforce(1)))
    plain, blended = (records_in(tmp_path / place) for place in ("plain", "blended"))
    assert plain["padding"].tolist() == blended["padding"].tolist() == made["padding"].tolist()
    assert plain["result"].tolist() == made["result"].tolist()
    same = plain["score"] == blended["score"]
    assert same[::2].all()
    assert not same[1::2].all()


def test_a_run_that_makes_no_position_is_an_error(without_games, tmp_path):
    path = tmp_path / "some.hcpe"
    path.write_bytes(without_games)
    results = Relabelling((path,), tmp_path / "out", Labelling("result"), workforce=Workforce(1))
    with pytest.raises(OptionError, match=r"`data` .*some\.hcpe: .*out has no position, because none of 100 comes"):
        relabel(results)
    few = Mixture(played=1e-9, random=0.0)
    with pytest.raises(OptionError, match="has no position, because none was drawn from 100; request more"):
        expand(Expansion((path,), tmp_path / "few", mixture=few, workforce=Workforce(1)))


def test_an_engine_labels_through_pipes(source, stub, tmp_path, capsys):
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=("Style=wild",))
    report = relabel(Relabelling((source,), tmp_path / "out", labels, workforce=Workforce(1)))
    assert report.count("unlabelled") == 0
    records = records_in(tmp_path / "out")
    assert set(records["score"].tolist()) == {77}
    for record in records[::10]:  # 7g7f is illegal in most of them
        board = cshogi_board(record["hcp"])
        assert board.is_legal(board.move_from_move16(int(record["move"])))
    assert "gave no score" not in capsys.readouterr().err
    labeller = EngineLabels(str(stub), (), nodes=9).open()
    start = np.zeros((1, 32), np.uint8)
    cshogi.Board().to_hcp(start[0])
    scores, moves = labeller.label(start)
    silent = EngineLabels(str(stub), ("Style=none",), nodes=9).open()
    assert [found.tolist() for found in silent.label(start)] == [[77], [0]]
    assert (scores.tolist(), cshogi.move_to_usi(cshogi.Board().move_from_move16(int(moves[0])))) == ([77], "7g7f")


@pytest.mark.parametrize(("positions", "hinted"), [(40, True), (60, False)])
def test_many_missing_scores_of_an_engine_are_reported(positions, hinted, source, stub, tmp_path, capsys):
    data = tmp_path / "some.hcpe"
    np.fromfile(source, hcpe_dtype)[:positions].tofile(data)
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=("Style=silent",))
    report = relabel(Relabelling((data,), tmp_path / "out", labels, workforce=Workforce(1)))
    assert report.count("unlabelled") == 5
    words = f"no score for 5 of {positions} positions, which are left out (YaneuraOu reports no score"
    said = capsys.readouterr().err
    assert (words in said and "without engine_option PvInterval=0" in said) == hinted


def test_another_engine_at_the_same_path_cannot_resume(source, stub, tmp_path):
    """The engine's network is in a folder that an option names."""
    net = tmp_path / "eval" / "nn.bin"
    net.parent.mkdir()
    net.write_bytes(b"network")
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=(f"Style={net.parent}",))
    options = Relabelling((source,), tmp_path / "out", labels, workforce=Workforce(1))
    made = relabel(options)
    digests = {path.name: sha256_of(path)[:16] for path in (stub, net)}
    assert read_run(options.output).conditions["engine"] == {"name": "stub", "files": digests}
    for path in (stub, net):
        kept = path.read_bytes()
        path.write_bytes(kept + b"\n")
        changed = [check.file for check in verify([options.output]) if check.state != SAME]
        assert changed == [str(path)]
        with pytest.raises(ValueError, match=r"holds a run with another engine: files .*another folder"):
            relabel(options)
        path.write_bytes(kept)
    assert relabel(options) == made


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Labelling("search"), "`label` search: needs `nodes` or `depth`"),
        (Labelling("engine", nodes=5), "`label` engine and `engine` require each other"),
        (
            Labelling("engine", "lite-16-4-32", nodes=5, engine="e"),
            "`net` lite-16-4-32: has no effect with `label`",
        ),
        (Labelling(result_share=1.5), "`result_share` 1.5"),
        (Labelling(cp_per_logit=500.0), "`cp_per_logit` 500.0: has no effect without `result_share`"),
        *[(Labelling(cp_per_logit=scale), f"`cp_per_logit` {scale}") for scale in (0.0, -1.0, math.inf, math.nan)],
    ],
)
def test_invalid_labels_are_refused(options, words, source, tmp_path):
    with pytest.raises(ValueError, match=words):
        relabel(Relabelling((source,), tmp_path, options))


@pytest.mark.parametrize(
    ("mixture", "words"),
    [
        (Mixture(played=0, random=0), "no positions are requested"),
        (Mixture(played=2), "`played` and `leaf` are at most 1"),
        (Mixture(random=-1), "`random` -1"),
        *[
            (Mixture(**{name: 1e30}), f"`{name}` 1e\\+30: must be at most 10,000")
            for name in ("random", "tree", "settled")
        ],
        (Mixture(random_moves=0), "`random_moves` 0"),
        (Mixture(tree_each=1000), "at most 256"),
        (Mixture(random=0, random_moves=3), "`random_moves` 3: has no effect without `random` or `settled`"),
        (Mixture(tree_nodes=5), "`tree_nodes` 5: has no effect without `tree`"),
        (Mixture(tree_each=5), "`tree_each` 5: has no effect without `tree`"),
        (Mixture(leaf_nodes=5), "`leaf_nodes` 5: has no effect without `leaf`"),
    ],
)
def test_invalid_mixtures_are_refused(mixture, words, source, tmp_path):
    with pytest.raises(ValueError, match=words):
        expand(Expansion((source,), tmp_path, mixture=mixture))
