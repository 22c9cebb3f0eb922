"""The report of games on CSA servers: results by opponent and end, and the times of the records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.csa.play import VERB
from experiments.csa.server_results import LostConnection, ServerGameLine
from experiments.report.report import Report, write_report
from experiments.report.section import Section
from experiments.report.server_section import MOST_GAMES, server_section
from lite.run_folder import RunPlan
from tests.experiments.report.conftest import made, run_of

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

PLAN = RunPlan(VERB, {"host": "wdoor", "port": 4081, "name": "mine"}, {"engine": "default"})
KIF = """手合割：平手
手数----指手---------消費時間--
   1 ７六歩(77)   ( 0:12/00:00:12)
   2 ３四歩(33)   ( 0:05/00:00:05)
   3 ２六歩(27)   ( 0:30/00:00:42)
   4 投了         ( 0:07/00:00:12)
"""


def game(number: int, **found: str) -> ServerGameLine:
    """Return a game won as black against `other`, with some fields replaced."""
    line = {"black": "mine", "white": "other", "colour": "black", "result": "win", "ending": "TORYO", "kif": ""} | found
    return ServerGameLine(number=number, game_id="id", moves=3, started="2026-11-28T16:00:00", seconds=60.0, **line)  # type: ignore[arg-type]


GAMES = [
    game(1, kif="kif/0001.kifu"),
    game(2, black="<b>other", white="mine", colour="white", result="loss", ending="TIME_UP", kif="kif/0002.kifu"),
    game(3, result="draw", ending="SENNICHITE"),
    game(4, result="unfinished", ending="CHUDAN", kif="kif/missing.kifu"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run = made(tmp_path / "run", PLAN, [*GAMES[:3], LostConnection("2026-11-28T17:00:00", 4, "reset"), GAMES[3]])
    (run / "kif").mkdir()
    for number in (1, 2):
        (run / "kif" / f"{number:04}.kifu").write_text(KIF, encoding="utf-8")
    return run


def table_of(section: Section, title: str) -> list[list[str]]:
    (found,) = [table for table in section.tables if table.title.endswith(title)]
    return [list(line) for line in found.lines]


def test_games_are_counted_by_opponent_and_ending(folder: Path) -> None:
    section = server_section([run_of(folder)])
    assert list(section.tables[0].lines[0][:6]) == ["mine", "mine on wdoor:4081", "1 - 1 - 1", "1", "1", "1"]
    assert table_of(section, ": opponents") == [
        ["other", "3", "1 - 1 - 0", "75%", "1", "2026-11-28"],
        ["<b>other", "1", "0 - 0 - 1", "0%", "0", "2026-11-28"],
    ]
    assert ["TIME_UP", "0", "0", "1", "0"] in table_of(section, ": ends of games")
    balance = section.charts[0].spec["data"]["values"]
    assert [row["wins minus losses"] for row in balance] == [1, 0, 0, 0]


def test_times_by_side_are_those_of_the_records(folder: Path) -> None:
    section = server_section([run_of(folder)])
    games = {line[2]: line for line in table_of(section, ": games")}
    assert list(games) == ["4", "3", "2", "1"]
    assert games["1"][5:8] == ["42", "30", "12"]
    assert games["2"][:2] + games["2"][3:8] == ["<b>other", "loss, TIME_UP", "white", "3", "12", "7", "42"]
    assert games["3"][5:8] == games["4"][5:8] == ["", "", ""]
    used = section.charts[1].spec["data"]["values"]
    assert [(row["side"], row["seconds used"]) for row in used[:2]] == [("mine: own", 42), ("mine: opponent's", 12)]


def test_the_latest_games_of_a_long_run_are_listed(tmp_path: Path) -> None:
    run = made(tmp_path / "run", PLAN, [game(number) for number in range(1, MOST_GAMES + 3)])
    lines = table_of(server_section([run_of(run)]), f": the latest {MOST_GAMES} of {MOST_GAMES + 2} games")
    assert (len(lines), lines[0][2], lines[-1][2]) == (MOST_GAMES, str(MOST_GAMES + 2), "3")


def test_a_page_shows_a_run_with_and_without_games(folder: Path, tmp_path: Path) -> None:
    begun = made(tmp_path / "begun", PLAN, [])
    page = tmp_path / "page.html"
    write_report(Report((folder, begun), page))
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;other" in text
    assert len(re.findall(r'<div class="chart"', text)) == 2
    assert "0 - 0 - 0" in text
