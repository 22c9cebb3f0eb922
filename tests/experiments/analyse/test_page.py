"""The page is complete, its positions are correct, and a browser steps through it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import cshogi
import pytest

from experiments.analyse.annotated_kif import Judgement, write_kif
from experiments.analyse.as_text import words_for_game
from experiments.analyse.figures import figures
from experiments.analyse.page import as_page
from experiments.analyse.searching import tsume_plies
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.words import Words
from lite.notation.game import Game
from lite.notation.games import read_games
from search.score import MATE, is_mate
from tests.experiments.invented_analysis import DATA, find_game, invented

KIF = """棋戦：</script><b>杯
手合割：香落ち
下手：弟子
上手：師匠
手数----指手---------消費時間--
*対局前の一言
   1 ３四歩(33)   ( 1:05/00:01:05)
*互角
*#評価値=55
*勝率 下手 52.0% 上手 48.0%
*#エンジン=LiteShogi
*定跡
   2 ７六歩(77)   ( 0:02/00:00:02)+
   3 ８八角成(22)   (12:00/00:13:05)
   4 同　銀(79)
   5 ４五角打
   6 中断         ( 0:03/00:00:05)

変化：4手
*飛車で取ると
   4 同　飛(28)
*飛車が残る
   5 投了

変化：2手
   2 ２六歩(27)   ( 0:09/00:00:09)
   3 ４四歩(43)
*角道を止める
&栞
"""
LINE = ("7g7f", "4c4d", "2g2f")
ONE = [Judgement(0, 0.5, 6, 1000, ())]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Game:
    path = tmp_path_factory.mktemp("page") / "game.kif"
    path.write_text(KIF, encoding="utf-8")
    (found,) = read_games(path, unfinished=True)
    assert isinstance(found, Game), found
    return found


@pytest.fixture(scope="module")
def page(game: Game) -> str:
    return page_in(ENGLISH, game)


@pytest.fixture(scope="module")
def japanese_page(game: Game) -> str:
    return page_in(JAPANESE, game)


def page_in(words: Words, game: Game) -> str:
    """Return the page of a game whose first move gave away 13 %."""
    other = Judgement(-30, 0.45, 5, 900, ("2g2f",))
    judgements = [Judgement(20, 0.52, 6, 1000, ("8c8d",)), Judgement(190, 0.65, 6, 1000, LINE, (other,))]
    every = [*judgements, *[None] * (len(game.moves) + 1 - len(judgements))]
    return as_page(game, figures(game, judgements), every, "LiteShogi, default", words_for_game(words, game))


def steps_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="game">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return list(json.loads(found[1])["steps"])


def test_the_page_needs_no_other_files(page: str) -> None:
    own = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', own)
    assert re.findall(r"url\((?!data:)", own) == []
    assert "@import" not in own
    assert "Event: &lt;/script&gt;&lt;b&gt;杯" in own
    assert "香落ち" in own
    assert page.count("</script>") == 3
    assert "<header hidden>" in own


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE], ids=["en", "ja"])
def test_a_page_without_javascript_is_not_blank(game: Game, words: Words) -> None:
    without = re.sub(
        r"<(script|style)[^>]*>.*?</\1>|<(header|main) hidden>.*?</\2>", "", page_in(words, game), flags=re.DOTALL
    )
    (shown,) = re.findall(r"<noscript>(.*?)</noscript>", without.split("<body>")[1])
    assert shown == f"<p>{words.needs_script}</p>"
    assert "JavaScript" in shown


def test_positions_are_those_of_the_game_and_its_lines(page: str, game: Game) -> None:
    steps, board = steps_of(page), cshogi.Board(game.start_sfen)
    assert steps[0]["sfen"] == board.sfen()
    for step, move in zip(steps[1:], game.moves.tolist(), strict=True):
        board.push(board.move_from_move16(move))
        assert step["sfen"] == board.sfen()
    assert [step["name"] for step in steps] == ["", "△３四歩", "▲７六歩", "△８八角成", "▲同銀", "△４五角"]
    assert steps[3]["squares"] == ["2b", "8h"]
    assert steps[5]["squares"] == ["bishop", "4e"]
    assert [step["time"] for step in steps] == ["", "1:05", "0:02", "12:00", "", ""]
    assert steps[0]["comments"] == ["対局前の一言"]
    assert steps[1]["comments"] == ["定跡"]  # not the earlier analysis
    best, second = steps[1]["lines"]
    assert [step["name"] for step in best["steps"]] == ["▲７六歩", "△４四歩", "▲２六歩"]
    assert (second["text"], second["steps"][0]["squares"]) == ("-30", ["2g", "2f"])
    assert steps[2]["lines"] == []


def test_variations_are_shown_where_they_leave_the_game(page: str) -> None:
    found = {
        ply: [[one["name"] for one in line] for line in step["variations"]] for ply, step in enumerate(steps_of(page))
    }
    assert {ply: lines for ply, lines in found.items() if lines} == {
        1: [["▲２六歩", "△４四歩"]],
        3: [["▲同飛"]],
    }


def test_comments_of_variations_are_shown_with_their_moves(page: str) -> None:
    steps = steps_of(page)
    (line,), (other,) = steps[1]["variations"], steps[3]["variations"]
    assert [one["comments"] for one in line] == [[], ["角道を止める"]]
    assert [one["comments"] for one in other] == [["飛車で取ると", "飛車が残る"]]


def test_variations_before_an_unreadable_one_are_shown(game: Game, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = replace(game, variations=game.variations.replace("   2 ２六歩(27)", "   2 ２五歩(27)x"))
    every = [None] * (len(game.moves) + 1)
    steps = steps_of(as_page(damaged, figures(damaged, ONE), every, "by an engine"))
    assert [len(step["variations"]) for step in steps] == [0, 0, 0, 1, 0, 0]
    said = capsys.readouterr().err
    assert said.startswith(f"{game.place}, variation 2: ")
    assert said.endswith("(the page lacks it and what follows it)\n")


def test_comments_below_the_ending_are_shown_with_the_last_move(game: Game) -> None:
    commented = replace(game, comments={**game.comments, len(game.moves) + 1: ["*終局"]})
    every = [None] * (len(game.moves) + 1)
    assert steps_of(as_page(commented, figures(commented, ONE), every, "by an engine"))[-1]["comments"] == ["終局"]
    assert re.search(r"\n   6 [^\n]+\n\*終局\nまで5手で", write_kif(commented, every, [None] * len(game.moves)))


@pytest.mark.parametrize(
    ("words", "axes"),
    [
        (ENGLISH, "win rate of black, % · score of black, centipawns"),
        (JAPANESE, "下手の勝率（%） · 下手から見た評価値"),
    ],
    ids=["en", "ja"],
)
def test_the_page_says_whose_scores_it_shows(game: Game, words: Words, axes: str) -> None:
    assert f'<p id="axes">{axes}</p>' in page_in(words, game)


CLICKS = """
<script type="module">
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
while (!document.documentElement.dataset.shown) await new Promise((done) => setTimeout(done, 20));
const shown = [document.documentElement.dataset.shown];
const act = (what) => { what(); shown.push(document.documentElement.dataset.shown); };
act(() => document.querySelectorAll(".line")[1].querySelectorAll("button")[2].click());
act(() => press("ArrowRight"));
act(() => press("ArrowRight"));
for (let back = 0; back < 3; back++) act(() => press("ArrowLeft"));
act(() => press("End"));
act(() => document.querySelectorAll("#moves tr")[3].click());
act(() => document.getElementById("first").click());
act(() => press("ArrowRight"));
act(() => press("f"));
act(() => document.getElementById("best").click());
act(() => press("n"));
act(() => document.querySelectorAll(".line .head")[1].click());
act(() => document.querySelector("#mistakes ol button").click());
document.documentElement.style.width = "340px"; // a phone's
const main = document.querySelector("main");
document.body.dataset.fits = main.scrollWidth <= main.clientWidth && main.clientWidth <= 340;
document.body.dataset.steps = shown.join(" ");
const changed = [];
const change = history.replaceState.bind(history);
history.replaceState = (...address) => { changed.push(address[2]); change(...address); };
["End", "Home", "ArrowRight"].forEach(press);
await new Promise((done) => setTimeout(done, 400));
document.body.dataset.changed = changed.join(" ");
</script>
</body>"""


def browse(page: str, folder: Path, *more: str) -> str:
    """Return the page's HTML after a browser has run its scripts without an error; the first move is shown."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium on this machine")
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    flags += [
        "--force-prefers-reduced-motion",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
        "--dump-dom",
        *more,
    ]
    done = subprocess.run(
        [browser, *flags, path.as_uri() + "#1"],
        capture_output=True,
        text=True,
        check=True,
        timeout=250,
        encoding="utf-8",
    )
    assert "CONSOLE" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE], ids=["en", "ja"])
def test_the_lists_fit_the_screen_of_a_phone(tmp_path: Path, words: Words) -> None:
    """Nothing scrolls sideways at 390 px, not even with the longest scores."""
    one = find_game(DATA / "scored.kifu", 1)
    found = [
        replace(judgement, score=MATE - 127 if judgement.score > 0 else 127 - MATE, tsume_plies=113)
        if is_mate(judgement.score)
        else judgement
        for judgement in invented(one, 1, others=2)
    ]
    (tmp_path / "game.html").write_text(as_page(one, figures(one, found), found, "by an engine", words), "utf-8")
    frame = """<iframe src="game.html#1" style="border: 0; width: 390px; height: 900px"></iframe><script>
    const frame = document.querySelector("iframe");
    frame.onload = () => setTimeout(() => {
      const wide = ["html", "main", "#moves", "#mistakes ol", "#said"].filter((part) => {
        const element = frame.contentDocument.querySelector(part);
        return element.scrollWidth > element.clientWidth;
      });
      document.body.dataset.wide = `wide: ${wide.join(", ")}.`;
    }, 2000);</script>"""
    assert 'data-wide="wide: ."' in browse(frame, tmp_path, "--allow-file-access-from-files", "--window-size=800,1000")


def test_a_declaration_is_not_shown_as_a_mate(tmp_path: Path) -> None:
    source = tmp_path / "game.usi"
    source.write_text("sfen +P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG2g4s4n4l8p 200 moves G*5h 5i5h win\n")
    (declared,) = read_games(source)
    assert isinstance(declared, Game)
    found = [Judgement(3000, 0.99, 9, 99, ("G*5h",)), Judgement(MATE - 2, 1.0, 9, 99, ("5i5h",))]
    found.append(Judgement(MATE - 1, 1.0, 0, 0, ("win",)))
    shown = browse(as_page(declared, figures(declared, found), found, "by an engine"), tmp_path)
    assert re.findall(r"<td[^>]*>(\+3000|mate \+[0-9]|declaration)</td>", shown) == ["+3000", "mate +2", "declaration"]


def test_a_declaration_is_shown_as_the_best_move(game: Game) -> None:
    found = [Judgement(MATE - 1, 1.0, 0, 0, ("win",)), Judgement(0, 0.5, 6, 1000, ())]
    every = [*found, *[None] * (len(game.moves) + 1 - len(found))]
    for words, name in ((ENGLISH, "declaration"), (JAPANESE, "入玉宣言")):
        first = steps_of(as_page(game, figures(game, found), every, "by an engine", words))[1]
        assert first["best"] == name


def test_a_browser_steps_through_the_page_without_an_error(page: str, tmp_path: Path) -> None:
    shown = browse(page.replace("</body>", CLICKS), tmp_path)
    assert 'data-steps="1 1-l0-1 1-l0-2 1-l0-2 1-l0-1 1-l0-0 1 5 3 0 1 1 0-l0-0 1 1-l1-0 1"' in shown
    assert 'data-fits="true"' in shown
    assert '<span id="result">unfinished</span>' in shown
    assert 'data-changed="#1"' in shown  # only once: Safari raises an error at a hundred calls within half a minute
    pieces = re.findall(r'<piece class="(sente|gote) ([a-z]+)"', shown.split("<sg-pieces>")[1].split("</sg-pieces>")[0])
    assert len(pieces) == 39
    assert pieces.count(("gote", "lance")) == 1
    assert "orientation-gote" in shown
    assert "<header><h1>" in shown  # hidden until its font is loaded
    assert len(re.findall(r"<line [^>]*marker-end", shown)) == 2  # the first moves of both lines
    assert shown.count("<tr") == 6
    assert "【doubtful】 lost 13.0 %" in shown
    assert re.search(r'<button [^>]*id="best"[^>]*>best △８四歩</button>', shown)
    assert re.search(r'<path class="mark doubtful second" d="M1 35h0">', shown)
    assert re.search(r'<button [^>]*data-ply="1"[^>]*>1 △３四歩 doubtful −13.0 %</button>', shown)
    assert ">doubtful</td>" in shown
    assert 'viewBox="0 0 5 100"' in shown
    assert '<line class="even" x1="0" x2="5" ' in shown


def test_a_browser_shows_comments_of_moves_of_variations(japanese_page: str, tmp_path: Path) -> None:
    clicks = CLICKS[: CLICKS.index("const shown")] + (
        'document.querySelectorAll(".line")[3].querySelectorAll("button")[2].click();\n'
        "document.body.dataset.focus = document.activeElement.textContent;\n</script>\n</body>"
    )
    shown = browse(japanese_page.replace("</body>", clicks), tmp_path)
    assert "【疑問手】 勝率損失 13.0 %" in shown
    assert 'data-focus="△４四歩*"' in shown
    assert '<span id="result">中断</span>' in shown
    buttons = re.findall(r"<button[^>]*>(△４四歩[^<]*)</button></p><p[^>]*>([^<]*)</p>", shown)
    assert buttons == [("△４四歩*", "角道を止める")]


def test_the_japanese_page_has_no_english_words(japanese_page: str, tmp_path: Path) -> None:
    shown = browse(japanese_page, tmp_path)
    body = re.sub(r"<(style|script|noscript)[^>]*>.*?</\1>", "", shown, flags=re.DOTALL)
    text = " ".join(re.findall(r">([^<]+)<", body.split("<body>")[1]))
    assert set(re.findall(r"[A-Za-z]{2,}", re.sub("LiteShogi, default|&lt;/script&gt;|&lt;b&gt;", "", text))) == set()
    for word in ("盤面反転", "開始局面", "候補1", "疑問手", "次の悪手"):
        assert word in text


def test_a_superior_position_is_not_shown_as_centipawns(game: Game) -> None:
    """The search's score of a repetition with more pieces in hand is a verdict, not centipawns."""
    found = [Judgement(-25000, 0.0, 6, 1000, ())]
    every = [*found, *[None] * len(game.moves)]
    page = as_page(game, figures(game, found), every, "an engine", words_for_game(JAPANESE, game))
    (line,) = steps_of(page)[0]["lines"]
    assert line["text"] == "上手優等局面"


FUTILE = "k8/9/1K7/9/9/9/9/9/8R b r2b4g4s4n4l18p 1"
"""The rook's check from 9i can be interposed five times, each time for nothing."""


def test_a_mate_is_also_counted_as_tsume_shogi_counts_it(game: Game) -> None:
    found = Judgement(MATE - 15, 1.0, 9, 99, ("1i9i",))
    assert tsume_plies(found, True, FUTILE) == 5
    assert tsume_plies(found, False, FUTILE) is None  # the side to move is mated
    assert tsume_plies(Judgement(500, 0.7, 9, 99, ("1i9i",)), True, FUTILE) is None
    counted = replace(found, line=("3c3d",), tsume_plies=5)
    for words, text in ((ENGLISH, "mate +15 (tsume: 5 plies)"), (JAPANESE, "下手勝ち 15手詰（詰将棋では5手詰）")):
        every = [counted, *[None] * len(game.moves)]
        page = as_page(game, figures(game, [counted]), every, "", words_for_game(words, game))
        assert [line["text"] for line in steps_of(page)[0]["lines"]] == [text]
    same = replace(counted, tsume_plies=15)
    page = as_page(game, figures(game, [same]), [same, *[None] * len(game.moves)], "", words_for_game(JAPANESE, game))
    assert steps_of(page)[0]["lines"][0]["text"] == "下手勝ち 15手詰"
