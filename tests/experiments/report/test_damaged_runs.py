"""A run whose files hold unexpected values is shown, or refused with its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from experiments.report.report import find_runs, read_sections
from experiments.report.verify import verify
from lite.run_folder import RESULTS
from tests.experiments.report.conftest import LOSS
from tests.fuzz.exchange import files
from tests.fuzz.reader import check_message

KINDS = ("match", "loop", "judgement", "league", "tuning")


def reading_error(read: Callable[[Sequence[Path]], object], run: Path) -> str:
    """Return the error of reading a run, or the name of the run if there is none."""
    try:
        read([run])
    except (ValueError, OSError) as error:
        check_message(error, None)
        return str(error)
    return run.name


def exchange(run: Path, every: int) -> None:
    """Exchange values and names in each file of a run; of all exchanges one in `every`."""
    for path in sorted(run.rglob("*.json*")):
        whole = path.read_bytes()
        lines = b"\n".join(line for line in whole.splitlines() if line.endswith(b"}"))  # the last line may be truncated
        for made in files(path.name, lines if path.suffix == ".jsonl" else whole, every):
            path.write_bytes(made)
            for read in (lambda runs: read_sections(find_runs(runs)), verify):
                assert run.name in reading_error(read, run)
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_some_exchanged_values_are_shown_or_refused(kind: str, request: pytest.FixtureRequest) -> None:
    exchange(request.getfixturevalue(kind), 509)


def test_a_board_that_cannot_be_drawn_is_refused(judgement: Path) -> None:
    results = judgement / RESULTS
    results.write_text(results.read_text().replace(LOSS.sfen, "x"))
    with pytest.raises(ValueError, match=r"judged: cannot be shown .* restore its files"):
        read_sections(find_runs([judgement]))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
def test_all_exchanged_values_are_shown_or_refused(kind: str, request: pytest.FixtureRequest) -> None:
    exchange(request.getfixturevalue(kind), 1)
