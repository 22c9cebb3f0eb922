"""The figures of data files by their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lite.datasets.stat import describe
from lite.records.formats import DECLARATION, MOVE_LIMIT, NO_RESULT, NO_SCORE, RecordError, hcpe_dtype
from lite.records.reader import read_all


def test_figures_of_scores_and_results(cshogi_records, tmp_path: Path) -> None:
    """The data are ten positions, eight of them with a score; black moves in every second one."""
    records = cshogi_records[0][20:30].view(hcpe_dtype).copy()
    records["score"] = [0, 100, -101, 2401, 30999, -31000, 32000, -32768, 0, 0]
    records["result"] = [1, 1 | DECLARATION, 2, 2, 1, 2, 0, 1, MOVE_LIMIT, 0]
    records["padding"][[0, 8, 9]] = NO_SCORE, NO_SCORE, NO_RESULT
    records["move"][3] = 0
    records.tofile(tmp_path / "a.hcpe")
    report, batch = describe((tmp_path / "a.hcpe",)), read_all([tmp_path / "a.hcpe"])
    size = np.abs(batch.score[batch.scored].astype(int))
    assert (len(size), report.without_score) == (8, 2)
    scores = report.abs_score
    assert scores["over_100"] == pytest.approx((size > 100).mean())
    assert (scores["mate"], scores["zero"]) == (3 / 8, 1 / 8)
    assert [scores[f"p{percent}"] for percent in (25, 50, 75)] == [
        np.percentile(size, percent, method="inverted_cdf") for percent in (25, 50, 75)
    ]
    judged = (batch.score != 0) & (batch.result != 0.5)
    agrees = (batch.score > 0) == (batch.result == 1)
    assert report.score_sign_agrees_with_result == pytest.approx(agrees[judged].mean())
    assert 0 < agrees[judged].mean() != 0.5
    assert report.with_move == pytest.approx(0.9)
    pieces = (batch.pieces != 28).sum(1)
    assert report.pieces_on_board["p50"] == np.percentile(pieces, 50, method="inverted_cdf")
    assert report.results == {
        "black wins": 3,
        "white wins": 3,
        "black wins by declaration": 1,
        "draw": 1,
        "draw by move limit": 1,
        "no game behind it": 1,
    }


@pytest.mark.parametrize("suffix", ["csa", "usi", "kif", "pack"])
def test_an_empty_file_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.touch()
    with pytest.raises(RecordError, match="the file is empty"):
        describe((path,))
    (tmp_path / "b.usi").write_text("startpos moves 7g7f resign\n" * 2)
    if suffix != "pack":  # one of three games
        assert describe((path, tmp_path / "b.usi")).positions == 2
