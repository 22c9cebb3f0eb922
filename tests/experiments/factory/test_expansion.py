"""Expand and relabel: what lands is what was asked for, whoever does the work, and the command goes on where it was."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import cshogi
import numpy as np
import pytest

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, Labelling, Relabelling, expand, relabel
from experiments.factory.seen import code_hashes
from experiments.factory.study import STATIC, Studio
from experiments.factory.summary import as_text
from experiments.factory.usi_labels import EngineLabels
from experiments.factory.workforce import Workforce
from experiments.report.verify import SAME, verify
from lite.datasets.description import read_description
from lite.datasets.provenance import sha256_of
from lite.datasets.stat import describe
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_GAME, NO_RESULT, hcpe_dtype
from search.evaluation.network_file import load_network

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
MIXTURE = Mixture(
    played=0.5, random=1.5, random_moves=3, tree=1.0, tree_nodes=300, leaf=0.3, leaf_nodes=60, settled=0.4
)
STUB = """
import sys
silence = 0
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "usi":
        print("id name stub\\noption name Style type string default x\\nusiok")
    elif word == "isready":
        print("readyok")
    elif word == "setoption":
        silence = 5 if "value silent" in line else 0
    elif word == "go":
        if silence:
            silence -= 1
            print("bestmove 7g7f", flush=True)
            continue
        assert line.split()[1:] == ["nodes", "9"], line
        print("info depth 1 score cp 77 pv 7g7f\\ninfo depth 2 multipv 2 score cp 5\\nbestmove 7g7f")
    elif word == "quit":
        break
    sys.stdout.flush()
"""


@pytest.fixture
def stub(tmp_path) -> Path:
    """An engine: with Style=silent it tells no score of some positions."""
    program = tmp_path / "stub"
    program.write_text(f"#!{sys.executable}\n{STUB}")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Some hundred recorded positions."""
    file = RecordFile(SAMPLE, block_positions=400)
    found = file.read_block(file.blocks[0], Refusals())
    path = tmp_path_factory.mktemp("records") / "some.hcpe"
    path.write_bytes(position_records(found, "hcpe", 0).tobytes())
    return path


def records_in(folder: Path) -> np.ndarray:
    return np.concatenate([np.fromfile(path, hcpe_dtype) for path in sorted(folder.glob("*.hcpe"))])


def test_every_kind_is_made_labelled_and_described(source, tmp_path):
    report = expand(Expansion((source,), tmp_path / "one", mixture=MIXTURE, workforce=Workforce(1)))
    records = records_in(tmp_path / "one")
    count = len(np.fromfile(source, hcpe_dtype))
    assert report["positions"] == len(records)
    kinds = {name: report[f"made {name}"] / count for name in ("played", "random moves", "leaf", "settled")}
    assert kinds == pytest.approx({"played": 0.5, "random moves": 1.5, "leaf": 0.3, "settled": 0.4}, abs=0.12)
    assert report["made tree, main search"] > 0
    assert report["made tree, quiescence"] > count / 4
    assert len(np.unique(code_hashes(records["hcp"]))) == len(records)
    scores, _ = Studio(load_network("default")).study(np.ascontiguousarray(records["hcp"]), STATIC)
    assert records["score"].tolist() == scores.tolist()
    played = np.isin(code_hashes(records["hcp"]), code_hashes(np.fromfile(source, hcpe_dtype)["hcp"]))
    assert (records["padding"][~played] == NO_RESULT).all()
    assert (records["result"][~played] == 0).all()
    told = describe((tmp_path / "one",))
    assert told["positions"] == len(records)
    assert told["results"]["no game behind it"] == int((records["padding"] == NO_RESULT).sum())
    file = RecordFile(next((tmp_path / "one").glob("*.hcpe")))
    kind = file.read_block(file.blocks[0], Refusals())["kind_of_result"]
    assert ((kind == NO_GAME) == (records["padding"][: len(kind)] == NO_RESULT)).all()


def test_no_position_in_check_is_made_whoever_labels(source, tmp_path):
    labels, played = Labelling("search", nodes=1), Mixture(played=1.0, random=0.0)
    report = expand(Expansion((source,), tmp_path, labels, mixture=played, workforce=Workforce(1)))
    made = {code.tobytes() for code in records_in(tmp_path)["hcp"]}
    before = np.fromfile(source, hcpe_dtype)["hcp"]
    assert made == {code.tobytes() for code in before if not cshogi_board(code).is_check()}
    assert report["made played"] == len(made) < len({code.tobytes() for code in before})


def test_it_matters_not_who_works_nor_when(source, tmp_path):
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
        # Jobs come back in any order, and where the goal is reached the last ones differ.
        common = np.isin(np.sort(code_hashes(again["hcp"])), first).mean()
        assert common > 0.75, other
        assert len(np.unique(code_hashes(again["hcp"]))) == len(again)
    with pytest.raises(ValueError, match=r"made with --label \"search\", not \"static\"; .*use another -o"):
        expand(Expansion((source,), tmp_path / "one", Labelling("static"), mixture=MIXTURE, positions=6000))


def test_where_nothing_varies_the_data_are_gone_through_once(source, tmp_path):
    only = Mixture(played=1.0, random=0.0, leaf=0.2, leaf_nodes=30)
    report = expand(Expansion((source,), tmp_path, mixture=only, positions=10**9, workforce=Workforce(1)))
    assert report["ended"] == "jobs"
    assert report["sources"] == len(np.fromfile(source, hcpe_dtype))


def test_relabelling_keeps_what_was_recorded(source, tmp_path):
    before = np.fromfile(source, hcpe_dtype)
    relabel(Relabelling((source,), tmp_path / "searched", Labelling("search", nodes=40), workforce=Workforce(2)))
    after = records_in(tmp_path / "searched")
    assert after["hcp"].tolist() == before["hcp"].tolist()
    assert after["result"].tolist() == before["result"].tolist()
    assert (after["move"] > 0).all()
    assert after["score"].tolist() != before["score"].tolist()
    report = relabel(Relabelling((source,), tmp_path / "static", workforce=Workforce(1)))
    checks = np.array([cshogi_board(code).is_check() for code in before["hcp"]])
    assert report["unlabelled"] == checks.sum() > 0
    after = records_in(tmp_path / "static")
    assert after["hcp"].tolist() == before["hcp"][~checks].tolist()
    assert after["move"].tolist() == before["move"][~checks].tolist()


def test_what_cannot_be_read_is_told_once(source, tmp_path, capsys):
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
        assert sum(report["refused"].values()) == 3
        assert [line.split(":")[0] for line in report["first_refused"]] == [
            f"{path} record {number}" for number in (301, 8, 251)
        ]
        said = capsys.readouterr().err
        assert said.count("left out: 301 records read, 3 refused (") == 1
        assert "refused" not in as_text(report)


def cshogi_board(code: np.ndarray) -> cshogi.Board:
    board = cshogi.Board()
    board.set_hcp(code.copy())
    return board


def test_what_has_no_game_behind_it_gets_none(source, tmp_path):
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


def test_an_engine_labels_through_pipes(source, stub, tmp_path, capsys):
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=("Style=wild",))
    report = relabel(Relabelling((source,), tmp_path / "out", labels, workforce=Workforce(1)))
    assert report["unlabelled"] == 0
    assert set(records_in(tmp_path / "out")["score"].tolist()) == {77}
    assert "told no score" not in capsys.readouterr().err
    labeller = EngineLabels(str(stub), (), nodes=9).open()
    start = np.zeros((1, 32), np.uint8)
    cshogi.Board().to_hcp(start[0])
    scores, moves = labeller.label(start)
    assert (scores.tolist(), cshogi.move_to_usi(cshogi.Board().move_from_move16(int(moves[0])))) == ([77], "7g7f")


@pytest.mark.parametrize(("positions", "hinted"), [(40, True), (60, False)])
def test_an_engine_that_tells_no_score_of_many_positions_is_told_of(positions, hinted, source, stub, tmp_path, capsys):
    data = tmp_path / "some.hcpe"
    np.fromfile(source, hcpe_dtype)[:positions].tofile(data)
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=("Style=silent",))
    report = relabel(Relabelling((data,), tmp_path / "out", labels, workforce=Workforce(1)))
    assert report["unlabelled"] == 5
    words = f"no score of 5 of {positions} positions, which are left out (YaneuraOu tells none of a search of less"
    said = capsys.readouterr().err
    assert (words in said and "without --engine-option PvInterval=0" in said) == hinted


def test_another_engine_at_the_same_path_does_not_go_on(source, stub, tmp_path):
    """Its network lies in a folder that an option names."""
    net = tmp_path / "eval" / "nn.bin"
    net.parent.mkdir()
    net.write_bytes(b"network")
    labels = Labelling("engine", nodes=9, engine=str(stub), engine_option=(f"Style={net.parent}",))
    options = Relabelling((source,), tmp_path / "out", labels, workforce=Workforce(1))
    made = relabel(options)
    digests = {path.name: sha256_of(path)[:16] for path in (stub, net)}
    assert read_description(options.output)["engine"] == {"name": "stub", "files": digests}
    for path in (stub, net):
        kept = path.read_bytes()
        path.write_bytes(kept + b"\n")
        changed = [check["file"] for check in verify([options.output]) if check["state"] != SAME]
        assert changed == [str(path)]
        with pytest.raises(ValueError, match=r"out: its data were made with another engine: its files .*another -o"):
            relabel(options)
        path.write_bytes(kept)
    assert relabel(options) == made


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Labelling("search"), "--label search needs --nodes or --depth"),
        (Labelling("engine", nodes=5), "belong together"),
        (Labelling("engine", "lite-16-4-32", nodes=5, engine="e"), "--net lite-16-4-32: --label engine asks none"),
        (Labelling(result_share=1.5), "--result-share 1.5"),
        (Labelling(cp_per_logit=500.0), "--cp-per-logit 500.0: does nothing without --result-share"),
        *[(Labelling(cp_per_logit=scale), f"--cp-per-logit {scale}") for scale in (0.0, -1.0, math.inf, math.nan)],
    ],
)
def test_labels_that_make_no_sense_are_refused(options, words, source, tmp_path):
    with pytest.raises(ValueError, match=words):
        relabel(Relabelling((source,), tmp_path, options))


@pytest.mark.parametrize(
    ("mixture", "words"),
    [
        (Mixture(played=0, random=0), "nothing is to be made"),
        (Mixture(played=2), "--played and --leaf are at most 1"),
        (Mixture(random=-1), "--random -1"),
        (Mixture(random_moves=0), "--random-moves 0"),
        (Mixture(tree_each=1000), "at most 256"),
        (Mixture(random=0, random_moves=3), "--random-moves 3: does nothing without --random or --settled"),
        (Mixture(tree_nodes=5), "--tree-nodes 5: does nothing without --tree"),
        (Mixture(tree_each=5), "--tree-each 5: does nothing without --tree"),
        (Mixture(leaf_nodes=5), "--leaf-nodes 5: does nothing without --leaf"),
    ],
)
def test_mixtures_that_make_no_sense_are_refused(mixture, words, source, tmp_path):
    with pytest.raises(ValueError, match=words):
        expand(Expansion((source,), tmp_path, mixture=mixture))
