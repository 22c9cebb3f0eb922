"""A match with unexpected values in the files of its folder is resumed or refused with an error."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.elo.sprt import Sprt
from experiments.matches.in_process_match import Match, play_match
from lite.run_folder import RECORD, RESULTS
from tests.fuzz.exchange import files
from tests.fuzz.reader import check_message


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Match:
    """Play a match of two short pairs in a folder."""
    folder = tmp_path_factory.mktemp("match") / "run"
    short = {"nodes": 1, "games": 4, "max_moves": 8, "parallel": 1}
    rules = Match("default", "default", **short, sprt=Sprt(0, 9), output=folder)
    play_match(rules)
    return rules


def exchange(match: Match, folder: Path, name: str, every: int) -> None:
    for made in files(name, (match.output / name).read_bytes(), every):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(match.output, folder)
        (folder / name).write_bytes(made)
        try:
            report = play_match(replace(match, output=folder))
        except (ValueError, OSError) as error:
            check_message(error, folder)
        else:
            assert report.games == 4


@pytest.mark.parametrize("name", [RESULTS, RECORD])
def test_some_exchanged_values_are_accepted_or_refused(match: Match, tmp_path: Path, name: str) -> None:
    exchange(match, tmp_path / "run", name, 101)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [RESULTS, RECORD])
def test_all_exchanged_values_are_accepted_or_refused(match: Match, tmp_path: Path, name: str) -> None:
    exchange(match, tmp_path / "run", name, 1)


def test_impossible_counts_of_a_pair_are_refused_by_their_job(match: Match, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(match.output, folder)
    ledger = folder / RESULTS
    ledger.write_text(ledger.read_text().replace('as black":1', 'as black":7', 1))
    with pytest.raises(ValueError, match=r"results\.jsonl: job 0: its counts do not fit this work; restore it"):
        play_match(replace(match, output=folder))
