"""Positions kept from long searches are in the table, and their labels are the table's entries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, expand
from experiments.factory.labelling import Labelling
from experiments.jobs.workforce import Workforce
from experiments.labels.kept import TreeKeeper
from experiments.labels.study import STATIC, UNLABELLED, Studio, place_code, study_dtype
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_RESULT, hcpe_dtype
from search.alphabeta.moves import is_tactical
from search.alphabeta.transposition import EXACT, LOWER, UPPER, data_bound, data_depth, data_move, data_score, probe
from search.evaluation.network_file import load_network
from search.rules.movegen import is_legal
from search.rules.position import in_check, new_position
from search.score import MATE_BOUND
from search.system.options import OptionError

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
NODES, DEPTH = 5000, 3


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    file = RecordFile(SAMPLE)
    found = file.read_block(file.blocks[0], Refusals())[40:1000:120]
    return position_records(found, "hcpe", 0).view(hcpe_dtype).copy()


def test_labels_equal_the_entries_of_the_table(records):
    network = load_network("lite-16-4-32")
    keeper, studio = TreeKeeper(network), Studio(network)
    pos, study = new_position(), np.zeros(1, study_dtype)[0]
    labelled = {EXACT: 0, LOWER: 0, UPPER: 0}
    for code in records["hcp"]:
        keeper.forget()
        codes, scores, moves, bounds = keeper.visit(code, NODES, DEPTH)
        assert codes[0].tolist() == code.tolist()
        assert len(np.unique(codes, axis=0)) == len(codes) > 20
        static = studio.study(codes, STATIC)[0]
        for place in range(1, len(codes)):
            assert place_code(codes[place], pos, study)
            data = np.uint64(probe(keeper.table, np.uint64(pos["key"])))
            assert (data_bound(data), data_move(data)) == (bounds[place], moves[place])
            assert data_depth(data) >= DEPTH
            if scores[place] == UNLABELLED:
                continue
            labelled[int(bounds[place])] += 1
            assert scores[place] == data_score(data, 0)
            assert abs(int(scores[place])) < MATE_BOUND
            assert not in_check(pos)
            if bounds[place] == LOWER:
                assert scores[place] > static[place]
                assert is_legal(pos, np.int64(moves[place]))
                assert not is_tactical(pos, np.int64(moves[place]))
    assert labelled[EXACT] > 0
    assert labelled[LOWER] > 10
    assert labelled[UPPER] == 0


def test_kept_positions_are_expanded_with_their_own_labels(records, tmp_path):
    source = tmp_path / "some.hcpe"
    records.tofile(source)
    mixture = Mixture(played=1, random=0, kept=1.0, kept_nodes=2000, kept_depth=2, kept_each=15)
    options = Expansion((source,), tmp_path / "out", Labelling(), mixture=mixture, workforce=Workforce(1))
    made = expand(options)
    found = np.fromfile(next((tmp_path / "out").glob("*.hcpe")), hcpe_dtype)
    kept = found["padding"] == NO_RESULT
    assert made.count("made kept") == kept.sum()
    assert len(records) < kept.sum() <= 15 * len(records)
    static = Studio(load_network("default")).study(np.ascontiguousarray(found["hcp"]), STATIC)[0]
    assert found["score"][~kept].tolist() == static[~kept].tolist()
    assert (found["score"][kept] != static[kept]).mean() > 0.8


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"kept": 2.0}, ("kept",)),
        ({"kept_nodes": 5}, ("kept_nodes", "kept")),
        ({"kept": 0.5, "kept_depth": 0}, ("kept_depth",)),
    ],
)
def test_impossible_options_are_refused(options, fields):
    with pytest.raises(OptionError) as refused:
        Mixture(**options).check()
    assert refused.value.fields == fields
