"""The catalogue of messages covers the errors that players meet, has only existing messages, and is used."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.games.player import ENDINGS
from experiments.language.catalogue import LABEL, japanese_messages, label, reading, shown, translated
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from liteshogi import __main__ as front_door
from search.compiling.cache_directory import report
from search.compiling.progress import FURTHER, SUBJECTS
from search.rules.set_up import BOARD_ERRORS

ROOT = Path(__file__).parents[3]
PLAYERS_FILES = [
    *sorted((ROOT / "lite/notation").glob("*.py")),
    *sorted((ROOT / "experiments/league").glob("*.py")),
    *sorted((ROOT / "experiments/report").glob("*.py")),
    *(
        ROOT / f"{name}.py"
        for name in (
            "search/engine",
            "search/primitives/memory",
            "search/system/bounds",
            "search/system/files",
            "search/system/folder_lock",
            "search/system/metadata",
            "search/compiling/cache_directory",
            "search/rules/sfen",
            "search/rules/play",
            "search/levels",
            "search/mate/problems",
            "search/mate/summary",
            "search/mate/table",
            "search/usi/usi_options",
            "search/evaluation/leb128",
            "search/evaluation/network_file",
            "search/evaluation/nnue_architecture",
            "search/evaluation/nnue_file",
            "search/evaluation/nnue_identification",
            "search/alphabeta/transposition",
            "search/puct/onnx_file",
            "search/puct/onnx_network",
            "search/puct/tree_memory",
            "experiments/usi_client/dialogue",
            "experiments/usi_client/engines",
            "experiments/arena/process",
            "experiments/arena/tournament",
            "experiments/elo/sprt",
            "experiments/jobs/cluster",
            "experiments/jobs/shards",
            "experiments/matches/in_process_games",
            "experiments/matches/in_process_match",
            "experiments/matches/named_player",
            "experiments/matches/pair_kif",
            "experiments/matches/standing",
            "experiments/network_kinds/player_command",
            "experiments/games/openings",
            "lite/run_folder",
            "lite/training/checkpoint",
            "liteshogi/commands/match",
            "liteshogi/commands/report",
            "liteshogi/commands/explain",
        )
    ),
]
"""Files whose errors reach a player through analyse, explain, mate, match or report."""
OF_VALUES_ALONE = ("{} is {}", "SFEN {}: {}", "SFEN {text}: {error}")
"""Messages that consist of translated values."""
WITH_TEXTS = (
    "{}: not the record of a run ({}); {}",
    "{}: line {}: kind must be given; {}",
    "a player in this process has no such option; {}",
    "{}: truncated: a LEB128 block{}",
    "{}: {}; train it again",
)
"""Messages with a value that is one of a few texts, each with an entry of its own."""
OF_OTHER_CALLS = (
    "this engine is already searching: wait for it, call `stop`, or use another engine",
    "{} bytes of weights: a LEB128 block holds less than 4 GiB",
    "the optimiser's {} is of no parameter of the network",
    "the optimiser does not hold the same of every parameter",
    "a field longer than its message",
    "a field of kind {}",
    "a number without end",
    "{} {}: choose one of {}",
)
"""Messages of these files that training, export and Python raise, or that a message for the player replaces."""
RAISING = ("Error", "error", "_disagreement")


def template(node: ast.expr) -> str | None:
    """Return the text of an expression with `{}` for each value; None if it is not a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    return None


def raised_messages() -> Iterator[tuple[str, str]]:
    """Yield (place, message with `{}` for each value) of every error that the players' files raise."""
    for path in PLAYERS_FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not ast.unparse(node.func).split(".")[-1].endswith(RAISING):
                continue
            if ast.unparse(node.func) in ("TypeError", "ImportError") or not node.args:
                continue
            if (text := template(node.args[0])) is not None:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def is_japanese(text: str) -> bool:
    return any("ぁ" <= character <= "ヿ" or "一" <= character <= "鿿" for character in text)


def filled(text: str) -> str:
    """Return a message whose values are numbers."""
    pieces = text.split("{}")
    return "".join(piece + str(number) for number, piece in enumerate(pieces))[: -len(str(len(pieces) - 1))]


def test_every_error_that_a_player_meets_has_a_japanese_message() -> None:
    places = list(raised_messages())
    assert len(places) > 120
    missing = []
    for place, text in places:
        words = [word for word in text.replace("{}", " ").replace("`", " ").split() if len(word) > 1 and word.isalpha()]
        elsewhere = text in (*OF_VALUES_ALONE, *WITH_TEXTS, *OF_OTHER_CALLS)
        if words and not elsewhere and not is_japanese(translated(filled(text))):
            missing.append(f"{place}: {text}")
    assert not missing, "\n".join(missing)


def test_a_place_before_an_error_does_not_change_its_message() -> None:
    for place, text in raised_messages():
        message = filled(text)
        assert translated(f"g.kif: {message}") == f"g.kif: {translated(message)}", place


@pytest.mark.parametrize("context", ["", LABEL])
def test_both_languages_fill_every_message(context: str) -> None:
    for english, japanese in japanese_messages(context).items():
        assert japanese, english
        names = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, japanese)]
        assert names[1] <= names[0], english
        letters = "".join(literal for literal, *_ in string.Formatter().parse(english))
        if english not in OF_VALUES_ALONE and any(len(word) > 2 and word.isalpha() for word in letters.split()):
            assert is_japanese(japanese), english


@pytest.mark.parametrize("text", [*ENDINGS, *BOARD_ERRORS[1:], *SUBJECTS.values(), FURTHER])
def test_named_endings_errors_of_boards_and_compiled_parts_are_translated(text: str) -> None:
    assert is_japanese(translated(text))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("g.kif: no moves", "g.kif: 指し手がありません"),
        ("g.kif: move 4 (△３三金) is illegal (line 9)", "g.kif: 4手目△３三金 は指せない手です（9行目）"),
        (
            "g.kif, variation 1: no moves (the page lacks it and what follows it)",
            "g.kif の変化1: 指し手がありません（ページにはそれ以降の手順を載せません）",
        ),
        (
            "no moves; the board diagram does not say who moves first: 先手番 was assumed; add the line 後手番 if not",
            "指し手がありません。盤面図に手番がないので先手番とみなしました。違うなら 後手番 の行を加えてください",
        ),
        (
            "cannot read 'x' after move 3 (▲７六歩); only a clock, + or a comment with * may follow a move",
            "3手目▲７六歩 の後の 'x' を読めません。指し手の後に書けるのは消費時間、+、* で始まるコメントだけです",
        ),
        ("cannot read '二六歩' as move 3", "3手目 '二六歩' を読めません"),
        ("the mark of the other side: '２六歩' as move 3", "3手目 '２六歩' に相手側の印が付いています"),
        ("the number is 5, but the next move is move 3", "手数が 5 と書かれていますが、次は3手目です"),
        ("g.csa game 2: cannot read the line 'x' (line 12)", "g.csa 第2局: 行を読めません: 'x'（12行目）"),
        ("/engines/x: there is no such engine", "/engines/x: エンジンがありません"),
        ("40 of 100 games, Elo +12 +- 30, 0:10 left", "100局中 40局、レート差 +12 ± 30、残り 0:10"),
        ("2 of 9 positions, 0:30 left", "9局面中2局面、残り 0:30"),
        ("9 of 36 games, a leads with +3 +- 40, 1:02:03 left", "36局中 9局、首位 a +3 ± 40、残り 1:02:03"),
        (
            "1 of 4 games, first engine 1 points of 1, 0:15 left",
            "4局中 1局、対局者1が1局で1点、残り 0:15",
        ),
        (
            "9 of at most 36 games, Elo +3 to +9, LLR 0.30 (-2.94 to 2.94), 0:03 left",
            "最大36局中 9局、レート差 +3 から +9、LLR 0.30（-2.94 から 2.94）、残り 0:03",
        ),
        (
            "warning: not written, as KIF cannot express it: game.db: game 2: no moves",
            "警告: KIF にできない対局を除きました: game.db: 第2局: 指し手がありません",
        ),
        ("default - a :    3 -   0 -   1    75 %  pairs 0, 1", "default - a :    3勝   0分   1敗    75 %  組 0, 1"),
        ("Elo +519 (+432 to +683)", "レート差 +519（+432 から +683）"),
        ("Elo +3 to +9", "レート差 +3 から +9"),
        ("ends of games: mate 3, sennichite 1", "終局: 詰み 3局、千日手 1局"),
        (
            "runs/m: complete (4 of 4 games, Elo +9 (+2 to +12)), so nothing is added; more games extend it, "
            "another seed in another folder plays others",
            "runs/m: 終わっています（4局中 4局、レート差 +9（+2 から +12））。何も追加しません。"
            "games を増やすと続きを対局し、seed とフォルダを変えると別の対局をします",
        ),
        (
            "o.sfen line 2: SFEN 'x': must have board, side to move, hands and move number",
            "o.sfen 2行目: SFEN 'x': 盤面、手番、持ち駒、手数を書いてください",
        ),
        (
            "`output` runs/m: holds a run with `nodes` 100, not 200; give the same or choose another folder",
            "`output` runs/m: 別の条件（`nodes` 100、今回は 200）の対局があります。"
            "同じ条件にするか、別のフォルダを指定してください",
        ),
        (
            "x.gif: the name must end in .svg or .png; name it x.svg",
            "x.gif: 名前の末尾は .svg か .png にしてください（例: x.svg）",
        ),
        ("`a` 3: has no effect without `b` or `c`", "`a` 3: `b` か `c` を指定しなければ効果がありません"),
        (
            "`sprt` 10 0: must be two Elo, rising, within 1,000",
            "`sprt` 10 0: -1000 から 1000 までのレート差を、小さい順に2つ指定してください",
        ),
        (
            "`EvalArchitecture`: the architecture 'sfnn_halfkp_x_7_32': width 'x': must be 1 to 4096",
            "`EvalArchitecture`: アーキテクチャ 'sfnn_halfkp_x_7_32': 幅 'x': 1 から 4096 にしてください",
        ),
        (
            "a.bin: unknown architecture: found ''; by its size it could be kp_32x2-8-32, kp_32x2-8-64; name it (`x`)",
            "a.bin: アーキテクチャが不明です。''。大きさからは kp_32x2-8-32, kp_32x2-8-64 などが考えられます。"
            "`x` でアーキテクチャ名を指定してください",
        ),
        (
            "'9/9': no black and no white king: a network evaluates only positions with both kings",
            "'9/9': 先手と後手の玉がありません。ネットワークは両方の玉がある局面だけを評価します",
        ),
        (
            "k.bin: weights: truncated: a LEB128 block of 1,000 bytes, and 12 are left",
            "k.bin: weights: LEB128 のブロックが途中で切れています（1,000 バイトのうち 12 バイト）",
        ),
        (
            "r/network.safetensors: a liteshogi network of version '9'; this program reads version 3; train it again",
            "r/network.safetensors: バージョン '9' の変換前のネットワークです。読めるバージョンは 3 です。"
            "学習し直してください",
        ),
        ("`nodes` 0: must be 1 to 9", "`nodes` 0: 1 から 9 にしてください"),
        ("a mate table of 0 MB: choose 1 to 9", "詰み探索の置換表 0 MB: 1 から 9 にしてください"),
        ("a tree of 9 MB does not fit: 5 MB of memory are free", "探索木 9 MB: メモリが足りません（空き 5 MB）"),
        (
            "runs/m: another run is at work here (process 12); wait for its end, or choose another folder",
            "runs/m: 別の処理がこのフォルダを使用中です（プロセス 12）。"
            "終わるのを待つか、別のフォルダを指定してください",
        ),
        (
            "runs/m/results.jsonl: job 3 is there already; restore it from a copy, or choose another folder",
            "runs/m/results.jsonl: ジョブ 3 が重複しています。バックアップから戻すか、別のフォルダを指定してください",
        ),
        (
            "liteshogi: /a is not a directory; /b cannot be read: compiled code is stored in /c",
            "liteshogi: /a はフォルダではありません。/b を読めません: コンパイル済みコードは /c に置きます",
        ),
        ("3 of 9 charts drawn, 0:02 left", "グラフ9枚中3枚、残り 0:02"),
        (
            "3 of 9 files of run 1 of 2 compared, 0:02 left",
            "フォルダ2個中1個目、ファイル9個中3個、残り 0:02",
        ),
        (
            "e broke off 2 times and made an illegal move 3 times, counted as lost, see x.log",
            "e: 異常終了 2回と反則 3回（負けとして数えます。x.log を見てください）",
        ),
        ("black or white", "black or white"),
        ("a message of another program", "a message of another program"),
    ],
)
def test_messages_are_translated_with_their_values(message: str, expected: str) -> None:
    assert translated(message) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first", "対局者1"),
        ("games: ratings", "games: レート"),
        ("-20 to +30", "-20 から +30"),
        ("? to -5", "? から -5"),
        ("from here to there", "from here to there"),
        ("2026-01-02T03:04:05+00:00 to 2026-01-03T03:04:05+00:00 (interrupted)", None),
    ],
)
def test_labels_are_translated_without_their_names(text: str, expected: str | None) -> None:
    wanted = expected or "2026-01-02T03:04:05+00:00 から 2026-01-03T03:04:05+00:00（中断）"
    with reading(JAPANESE):
        assert label(text) == wanted
        assert shown("first: no moves") == "first: 指し手がありません"  # a label is not a message
    assert label(text) == text


def test_the_reader_decides_the_language() -> None:
    assert shown("interrupted") == "interrupted"
    with reading(JAPANESE):
        assert shown("interrupted") == "中断しました"
        with reading(ENGLISH):
            assert shown("interrupted") == "interrupted"
    assert shown("interrupted") == "interrupted"


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ("about 12 s left", "liteshogi: この CPU 用に対局の処理をコンパイルしています（初回だけ、残り約12秒）\n"),
        ("3 s so far", "liteshogi: この CPU 用に対局の処理をコンパイルしています（初回だけ、3秒経過）\n"),
    ],
)
def test_compiling_is_reported_in_the_commands_language(state, line, monkeypatch, capsys) -> None:
    class Reporting:
        words = JAPANESE

        def run(self) -> None:
            report(f"compiling {SUBJECTS['games']} for this CPU, only once: {state}")

    monkeypatch.setattr(front_door, "parse", lambda *_: Reporting())
    monkeypatch.setattr("sys.argv", ["liteshogi", "match"])
    with pytest.raises(SystemExit):
        front_door.main()
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["analyse", "missing.kif"], "missing.kif: ファイルがありません"),
        (["analyse", "missing.bin", "missing.kif"], "missing.kif: ファイルがありません"),
        (["mate", "x"], "SFEN"),
        (["mate", "--file", "missing.kif"], "missing.kif: ファイルがありません"),
        (["explain", "startpos", "--net", "missing.bin"], "ファイルがありません"),
        (["match", "default", "missing.bin", "--nodes", "100"], "ネットワークのファイルがありません"),
        (["match", "default", "missing-engine"], "エンジンがありません"),
        (["match", "default", "default", "--nodes", "100", "--games", "3"], "偶数"),
        (["match", "default", "default", "--nodes", "100", "--sprt", "10", "0"], "小さい順"),
        (["match", "default", "default EvalFile=none.bin", "--nodes", "100"], "ファイルがありません"),
        (["match", "default", "default USI_Hsh=1", "--nodes", "100"], "USI_Hash ですか"),
        (["report", "missing"], "フォルダがありません"),
        (["report", "."], "run.json がありません"),
        (["report", ".", "--verify", "--png"], "--verify と一緒には使えません"),
        (["report", ".", "--output", "page.htm"], ".html にしてください"),
    ],
)
def test_errors_of_the_command_are_japanese(arguments, words, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["liteshogi", *arguments, "--language", "ja"])
    with pytest.raises(SystemExit) as end:
        front_door.main()
    printed = capsys.readouterr().err
    assert end.value.code == 1
    assert printed.startswith("エラー: ")
    assert words in printed
    assert "`" not in printed
