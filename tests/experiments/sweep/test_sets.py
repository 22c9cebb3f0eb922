"""Sets of positions that a plan makes: cut, drawn, sampled from trees, labelled by searches without a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.jobs.workforce import Workforce
from experiments.labels.study import SEARCH, STATIC, Studio
from experiments.sweep.data import Cut, choose_positions, read_data
from experiments.sweep.sweep import Sweep, SweepReport, run_sweep
from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype, record_files
from lite.records.reader import read_all
from search.alphabeta.parameters import EVERY_STEP, STEPS
from search.evaluation.network_file import load_network
from search.rules.huffman import HCP
from search.system.options import OptionError
from tests.experiments.sweep.conftest import MEASURE, TRAIN, written

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
ONE = Workforce(workers=1)


def records_of(path: Path) -> np.ndarray:
    found = []
    for file in (RecordFile(one, check_moves=False) for one in record_files([path])):
        found += [position_records(file.read_block(block, Refusals()), HCPE, HCP) for block in file.blocks]
    return np.concatenate(found).view(hcpe_dtype).reshape(-1)


@pytest.fixture
def positions(tmp_path: Path) -> Path:
    records_of(SAMPLE)[:300].tofile(tmp_path / "positions.hcpe")
    return tmp_path / "positions.hcpe"


def make(entry: dict[str, object], sources: list[Path], output: Path) -> np.ndarray:
    read_data(output.name, entry).way.make(sources, output, ONE)
    return records_of(output)


def test_a_cut_is_even(positions: Path) -> None:
    whole = records_of(positions)
    first, rest = positions.with_name("first.hcpe"), positions.with_name("rest.hcpe")
    whole[:100].tofile(first)
    whole[100:].tofile(rest)
    cut = positions.with_name("cut.hcpe")
    Cut((), 100).make([first, rest], cut, ONE)
    assert np.array_equal(records_of(cut), whole[::3])
    with pytest.raises(ValueError, match="301 positions"):
        Cut((), 301).make([positions], cut, ONE)


def test_the_entry_of_a_set_can_change_until_the_set_is_made(tmp_path: Path, invented: list[str]) -> None:
    (tmp_path / "d.hcpe").write_bytes(bytes(38 * 10))

    def sweep(positions: int, width: int = 32) -> SweepReport:
        text = f'[data."a.hcpe"]\ncut = ["{tmp_path}/d.hcpe"]\npositions = {positions}\n'
        text += f'[[point]]\nwidth = {width}\ndata = ["a.hcpe"]\n'
        return run_sweep(Sweep(written(tmp_path, TRAIN + MEASURE + text), output=tmp_path / "out", workers=1))

    assert sweep(11).failed
    assert not sweep(5).failed
    with pytest.raises(OptionError, match=r"out: a\.hcpe was made with positions 5, not 6; rename the set") as refused:
        sweep(6, 96)
    assert refused.value.fields == ("output",)
    assert sweep(5, 96).points == 2


def test_a_cut_has_the_suffix_of_its_sources(tmp_path: Path, positions: Path) -> None:
    for name, source, suffix in (("some", positions, ".hcpe"), ("some.hcpe", SAMPLE, ".hcpe3")):
        with pytest.raises(ValueError, match=rf"^{name}: .* call the set some\{suffix}$"):
            Cut((), 100).make([source], tmp_path / name, ONE)
        assert not (tmp_path / name).exists()


def test_games_are_drawn_whole(tmp_path: Path) -> None:
    some, again = tmp_path / "some.hcpe3", tmp_path / "again.hcpe3"
    count = choose_positions([SAMPLE], 2000, some)
    choose_positions([SAMPLE], 2000, again)
    assert some.read_bytes() == again.read_bytes()
    assert 2000 <= len(read_all([some])) == count < 2500
    assert int((np.diff(read_all([some]).ply) <= 0).sum()) > 10  # plies restart with each game
    with pytest.raises(ValueError, match="1,000,000"):
        choose_positions([SAMPLE], 1_000_000, tmp_path / "more")
    convert(Conversion((SAMPLE,), tmp_path / "late.hcpe3", from_ply=60))
    assert 2000 <= choose_positions([tmp_path / "late.hcpe3"], 2000, some) == len(read_all([some])) < 2500


def test_sets_that_cannot_be_cut_are_refused(tmp_path: Path, positions: Path) -> None:
    (tmp_path / "a.psv").write_bytes(bytes(40))
    (tmp_path / "broken.hcpe3").write_bytes(SAMPLE.read_bytes()[:60_000])
    (tmp_path / "empty.hcpe").write_bytes(b"")
    for files, words in (
        (["a.psv"], "a.psv"),
        (["positions.hcpe", "broken.hcpe3"], "broken.hcpe3"),
        (["broken.hcpe3"], r"broken.hcpe3: its games cannot be read from byte \d\d,\d{3} on"),
        (["positions.hcpe", "empty.hcpe"], "empty.hcpe: holds no position"),
    ):
        with pytest.raises(ValueError, match=words):
            choose_positions([tmp_path / name for name in files], 10, tmp_path / "out.hcpe")


@pytest.mark.parametrize("where", ["main", "quiescence"])
def test_tree_positions_have_the_network_s_static_scores(tmp_path: Path, where: str) -> None:
    entry = {"tree": "games", "where": where, "every": 40, "positions": 200}
    records = make(entry, [SAMPLE], tmp_path / "tree")
    assert len(records) >= 200
    assert len(np.unique(records["hcp"], axis=0)) == len(records)
    studio = Studio(load_network("default"))
    assert np.array_equal(studio.study(np.ascontiguousarray(records["hcp"]), STATIC)[0], records["score"])


def test_searches_without_a_step_give_labels(tmp_path: Path, positions: Path) -> None:
    wanted = records_of(positions)[:40]
    wanted.tofile(tmp_path / "few.hcpe")
    entry = {"search": "few.hcpe", "nodes": 300, "without": ["late move pruning"] * 2}
    found = make(entry, [tmp_path / "few.hcpe"], tmp_path / "labels")
    assert np.array_equal(found["hcp"], wanted["hcp"])
    studio = Studio(load_network("default"))
    codes = np.ascontiguousarray(wanted["hcp"])
    pruned = studio.study(codes, SEARCH, 300)[0]
    studio.forget()
    studio._thread.record["steps"] = EVERY_STEP & ~(1 << STEPS.index("late move pruning"))
    assert np.array_equal(found["score"], studio.study(codes, SEARCH, 300)[0])
    assert not np.array_equal(found["score"], pruned)


def test_the_factory_accepts_options_by_their_names(tmp_path: Path, positions: Path) -> None:
    found = make({"relabel": ["a"], "label": "quiescence"}, [positions], tmp_path / "labels")
    assert 200 < len(found) <= 300  # no position is in check
    found = make({"expand": ["a"], "played": 0.5, "random": 0, "seed": 3}, [positions], tmp_path / "expanded")
    assert 100 < len(found) < 200
