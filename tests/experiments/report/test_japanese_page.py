"""The Japanese page of matches, leagues and games on servers has no English text; the English page is unchanged."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from experiments.arena.arena_games import ArenaGame
from experiments.arena.course import Moment
from experiments.arena.engine_match import VERB as USI_VERB
from experiments.csa.server_results import LostConnection
from experiments.language import catalogue
from experiments.language.catalogue import reading
from experiments.language.japanese import JAPANESE
from experiments.report.report import Report, find_runs, read_sections, write_report
from experiments.report.server_section import MOST_GAMES
from lite import run_folder
from lite.run_folder import Maker, RunPlan, RunWriter
from liteshogi import __main__ as front_door
from search.system.command_line import started_by
from tests.experiments.report.conftest import MAKER, MATCH, made, make_league, make_match
from tests.experiments.report.test_server import GAMES, KIF, PLAN, game

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

NAMES = ("</script>.safetensors", "(5000 nodes)", "default (100 nodes)", "mine", "<b>other", "other", "wdoor")
NAMES += ("kif/0001.kifu", "kif/0002.kifu", "kif/missing.kifu", "LiteShogi", "Elo", "SPRT", "Bradley-Terry")
"""Names of players below, and words that both languages use."""
COMMANDS = re.compile(r"liteshogi .*|Python から [\w ]+: .*|0\.1\.0 0+|One CPU, avx2|\d*|[abc]")
"""Texts that need no translation."""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Matches and leagues in every state, in a folder with Japanese names."""
    folder = tmp_path / "実験"
    monkeypatch.setattr(run_folder, "this_maker", lambda: MAKER)
    make_match(folder / "対局")
    make_match(folder / "記録なし", Maker({}, MAKER.machine))
    make_match(folder / "検定", sprt={"elo0": -400, "elo1": 0, "alpha": 0.05, "beta": 0.05})
    make_match(folder / "少数", games=2)
    made(folder / "開始", MATCH, ())
    with started_by(["match", "甲", "乙"]), RunWriter(folder / "途中", MATCH) as run:
        run.interrupt()
    with pytest.raises(KeyError), RunWriter(folder / "失敗", MATCH):
        raise KeyError
    players = {"players": ["甲", "乙"]}
    games = [ArenaGame("g1", "a", 1.0, "x"), ArenaGame("g1", "a", 0.5, "DRAW")]
    made(folder / "時間", RunPlan(USI_VERB, {"byoyomi": 100}, players), games)
    moments = [Moment(10, player, 0.6, 0.1, 0.25) for player in ("first", "second")]
    monkeypatch.setattr("experiments.report.match_section.read_course", lambda _: moments)
    make_league(folder / "リーグ")
    make_league(folder / "総当たり", 1, result="draws")
    server = made(folder / "サーバ", PLAN, [*GAMES, LostConnection("2026-11-28T17:00:00", 4, "reset")])
    (server / "kif").mkdir()
    (server / "kif" / "0001.kifu").write_text(KIF, encoding="utf-8")
    made(folder / "多数", PLAN, [game(number) for number in range(1, MOST_GAMES + 3)])
    return folder


def page_of(runs: Path, name: str, *options: str) -> str:
    """Return the page that the command writes."""
    path = runs.parent / name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["liteshogi", "report", str(runs), "--output", str(path), *options])
        with pytest.raises(SystemExit) as end:
            front_door.main()
    assert end.value.code == 0
    return path.read_text(encoding="utf-8")


def charts_of(page: str) -> list[Any]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return list(json.loads(found[1])["specs"])


def body_of(page: str) -> str:
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


def visible(page: str) -> list[str]:
    """Return the texts of the page and of its charts: titles of axes, fields and values."""
    found = [unescape(text).strip() for text in re.split(r"<[^>]*>", body_of(page))]
    for spec in charts_of(page):
        found += re.findall(r'"title": "([^"]*)"', json.dumps(spec, ensure_ascii=False))
        for row in spec["data"]["values"]:
            found += [text for text in (*row, *row.values()) if isinstance(text, str)]
    return [text for text in found if text]


def english_words(text: str) -> list[str]:
    for name in NAMES:
        text = text.replace(name, "")
    return re.findall(r"[A-Za-z]{2,}", text)


def test_a_japanese_page_has_no_english(runs: Path) -> None:
    page = page_of(runs, "page.html", "--language", "ja")
    assert page.startswith('<!doctype html>\n<html lang="ja">')
    texts = visible(page)
    assert len(texts) > 200
    assert {"リーグ戦", "対局者1のレート差（Elo）", "勝率の推移", "対局者1の勝率", "コマンドとマシン"} <= set(texts)
    assert not [text for text in texts if not COMMANDS.fullmatch(text) and english_words(text)]
    anchors = re.findall(r'href="#([^"]*)"', body_of(page))
    assert len(set(anchors)) == len(anchors) == 4
    assert all(page.count(f'id="{anchor}"') == 1 for anchor in anchors)


def test_every_text_of_translated_sections_and_frame_has_a_japanese_entry(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, str] = {}

    def translated(message: str, context: str = "") -> str:
        asked[message] = original(message, context)
        return asked[message]

    original = catalogue.translated
    monkeypatch.setattr(catalogue, "translated", translated)
    page_of(runs, "page.html", "--language", "ja")
    assert len(asked) > 50
    missing = [text for text, japanese in asked.items() if text == japanese and not COMMANDS.fullmatch(text)]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(("locale", "code"), [("ja_JP.UTF-8", "ja"), ("C.UTF-8", "en")])
def test_the_language_is_the_locales(locale: str, code: str, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert f'<html lang="{code}">' in page_of(runs, "page.html")


def test_an_english_page_has_no_translated_text(runs: Path) -> None:
    page = page_of(runs, "page.html", "--language", "en")
    write_report(Report((runs,), runs.parent / "plain.html"))
    assert page == (runs.parent / "plain.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in page
    assert "@font-face" not in page
    japanese = page_of(runs, "ja.html", "--language", "ja")
    for one, other in zip(charts_of(page), charts_of(japanese), strict=True):
        lengths = [[len(row) for row in spec["data"]["values"]] for spec in (one, other)]
        assert lengths[0] == lengths[1]  # no two fields of a row have the same Japanese name
    own = {text for text in visible(page) if not re.search("[\u3000-\u9fff]", text)}
    assert {"Leagues", "Matches", "Elo of the first player", "win rate of the first player", "Elo from"} <= own
    assert {"Commands and machines", "run", "command", "program", "machine", "seed", "when"} <= own


def test_other_sections_stay_english_on_a_japanese_page(loop: Path, judgement: Path, tuning: Path) -> None:
    runs = find_runs((loop, judgement, tuning))
    english = read_sections(runs)
    with reading(JAPANESE):
        assert read_sections(runs) == english
    page = page_of(loop.parent, "page.html", "--language", "ja")
    assert page.count('<section id="loops" lang="en">') == 1
    assert page.count('lang="ja"') == 1
