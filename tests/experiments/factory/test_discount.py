"""Relabelling with recorded scores that are averaged over the following plies of whole games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.factory.expansion import Relabelling, relabel
from experiments.factory.labelling import Labelling
from experiments.jobs.workforce import Workforce
from experiments.labels.following_scores import following_scores
from lite.records.batch import labelled_dtype
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import hcpe_dtype
from search.score import CP_PER_LOGIT
from search.system.options import OptionError

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


def recorded(discount: float) -> Labelling:
    return Labelling("recorded", discount=discount)


def test_settled_positions_get_the_mean_of_the_following_plies(tmp_path: Path) -> None:
    file = RecordFile(SAMPLE, check_moves=False)
    expected: dict[bytes, set[int]] = {}
    for block in file.blocks:
        room = np.empty(block.positions, labelled_dtype)
        games = file.decode_games(file.raw_block(block), block, Refusals(), room)
        codes = position_records(games.positions, "hcpe", 0).view(hcpe_dtype)["hcp"]
        scores = following_scores(games.positions, games.counts, 0.7, CP_PER_LOGIT)
        for code, score in zip(codes, scores.tolist(), strict=True):
            expected.setdefault(code.tobytes(), set()).add(score)
    relabel(Relabelling((SAMPLE,), tmp_path / "out", recorded(0.7), workforce=Workforce(1)))
    found = np.concatenate([np.fromfile(path, hcpe_dtype) for path in (tmp_path / "out").glob("*.hcpe")])
    assert 100 < len(found) < len(expected)
    assert all(record["score"] in expected[record["hcp"].tobytes()] for record in found)


def test_positions_without_their_games_are_refused(tmp_path: Path) -> None:
    file = RecordFile(SAMPLE)
    path = tmp_path / "some.hcpe"
    path.write_bytes(position_records(file.read_block(file.blocks[0], Refusals()), "hcpe", 0).tobytes())
    with pytest.raises(OptionError, match=r"some\.hcpe has no whole games; give hcpe3"):
        relabel(Relabelling((path,), tmp_path / "out", recorded(0.7)))


@pytest.mark.parametrize("label", [Labelling("static", discount=0.7), recorded(1.0), recorded(-0.1)])
def test_a_discount_that_cannot_be_used_is_refused(label: Labelling, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="`discount`"):
        relabel(Relabelling((SAMPLE,), tmp_path / "out", label))


def test_only_a_discount_is_an_option_of_the_folder() -> None:
    assert recorded(0.7).deciding()["discount"] == 0.7
    assert "discount" not in recorded(0.0).deciding()
