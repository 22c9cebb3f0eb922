"""Games written by tsshogi (ShogiHome's library) and rsshogi are read without a difference."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import cshogi
import numpy as np
import pytest
from rsshogi.record import GameResult, Record, RecordMetadata, write_pack

from lite.notation.game import UNFINISHED, Game
from lite.notation.games import read_games
from lite.notation.kif_lines import HANDICAPS
from lite.notation.kif_writer import kif_text
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK
from lite.records.reader import read_all
from search.rules.sfen import move_to_usi
from search.rules.shogi import START_SFEN

TSSHOGI = "tsshogi@2.2.0"
WRITE = """
import { readFileSync } from "node:fs";
import {
  Record, Position, RecordMetadataKey, SpecialMoveType, specialMove, exportKIF, exportKI2, exportCSA
} from "tsshogi";
const endings = {
  resign: SpecialMoveType.RESIGN, interrupt: SpecialMoveType.INTERRUPT, timeout: SpecialMoveType.TIMEOUT,
  draw: SpecialMoveType.IMPASS
};
const written = JSON.parse(readFileSync(0, "utf-8")).map((game) => {
  const record = new Record(Position.newBySFEN(game.sfen));
  record.metadata.setStandardMetadata(RecordMetadataKey.BLACK_NAME, "甲");
  record.metadata.setStandardMetadata(RecordMetadataKey.WHITE_NAME, "乙");
  game.moves.forEach((usi, ply) => {
    if (!record.append(record.position.createMoveByUSI(usi))) throw new Error(usi);
    record.current.setElapsedMs(1000 * game.seconds[ply]);
    record.current.comment = game.comments[ply];
  });
  record.append(specialMove(endings[game.ending]));
  record.current.setElapsedMs(1000 * game.seconds[game.moves.length]);
  const csa3 = exportCSA(record, { v3: {} });
  return { kif: exportKIF(record), ki2: exportKI2(record), csa: exportCSA(record), "3.csa": csa3 };
});
process.stdout.write(JSON.stringify(written));
"""


@dataclass(frozen=True)
class Played:
    """A random game and its end."""

    sfen: str
    moves: list[str]
    ending: str
    seconds: list[int]
    scores: list[int]
    comments: list[str]

    @property
    def result(self) -> int:
        """Return the result in the form of `Game`."""
        white_to_move = (self.sfen.split()[1] == "w") ^ (len(self.moves) % 2 == 1)
        if self.ending in ("resign", "timeout"):
            return BLACK_WINS if white_to_move else WHITE_WINS
        return DRAW if self.ending == "draw" else UNFINISHED


def random_games(seed: int, count: int, starts: list[str], endings: list[str]) -> list[Played]:
    generator, games = np.random.default_rng(seed), []
    while len(games) < count:
        start = starts[len(games) % len(starts)]
        board, moves = cshogi.Board(start), list[str]()
        for _ in range(int(generator.integers(1, 160))):
            legal = list(board.legal_moves)
            if not legal:
                break
            moves.append(cshogi.move_to_usi(legal[generator.integers(len(legal))]))
            board.push_usi(moves[-1])
        if not list(board.legal_moves) or board.is_draw() != cshogi.NOT_REPETITION:
            continue  # the position decides the ending
        seconds = generator.integers(0, 4000, len(moves) + 1).tolist()
        scores = generator.integers(-3000, 3000, len(moves)).tolist()
        comments = [
            ["", f"*評価値={score}", f"#評価値={score}", f"* {score}", f"*解析 深さ 9 評価値 {score} 読み筋", "一言"][
                generator.integers(6)
            ]
            for score in scores
        ]
        games.append(Played(start, moves, endings[len(games) % len(endings)], seconds, scores, comments))
    return games


def only(path: Path, text: str) -> Game:
    path.write_text(text, encoding="utf-8")
    (game,) = read_games(path, unfinished=True)
    assert isinstance(game, Game), (game, text)
    return game


def check(game: Game, played: Played, timed: bool) -> None:
    """Assert that a game that was read is the one that was played."""
    assert game.start_sfen.split()[:3] == played.sfen.split()[:3]
    assert [move_to_usi(int(move)) for move in game.moves] == played.moves
    assert (game.result & WINNER_MASK if game.result != UNFINISHED else UNFINISHED) == played.result
    if timed:
        assert game.times.tolist() == [1000 * seconds for seconds in played.seconds]
    again = only(Path(game.place.split(" game ")[0]).with_suffix(".kifu"), kif_text(game))
    assert again.moves.tolist() == game.moves.tolist()
    assert (again.result, again.names, again.comments) == (game.result, game.names, game.comments)
    assert (again.scores.tolist(), again.scored.tolist()) == (game.scores.tolist(), game.scored.tolist())
    assert again.times.tolist() == game.times.tolist()


def expected_scores(played: Played) -> list[int]:
    """Return the scores for the mover that the comments give."""
    white_first = played.sfen.split()[1] == "w"
    found: dict[int, int] = {}
    for ply, comment in enumerate(played.comments):
        if re.match(r"\*(?:評価値| )", comment):
            found[ply] = played.scores[ply]
        elif comment.startswith(("#", "*解析")):
            found.setdefault(ply + 1, played.scores[ply])
    return [found.get(ply, 0) * (-1 if (ply % 2 == 1) ^ white_first else 1) for ply in range(len(played.moves))]


@pytest.mark.slow
def test_games_of_tsshogi_are_read(tmp_path: Path) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("needs node and npm")
    install = ["npm", "install", "--no-save", "--prefix", str(tmp_path), TSSHOGI]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        pytest.skip(f"cannot install {TSSHOGI}")
    names = ("平手", "香落ち", "角落ち", "飛車落ち", "二枚落ち", "四枚落ち", "六枚落ち", "八枚落ち", "十枚落ち")
    starts = [START_SFEN, *(str(HANDICAPS[name]) for name in names), "4k4/9/4P4/9/9/9/9/9/4K4 b 2G2r2b2g4s4n4l17p 1"]
    games = random_games(1, 200, starts, ["resign", "interrupt", "timeout", "draw"])
    (tmp_path / "write.mjs").write_text(WRITE, encoding="utf-8")
    given = json.dumps([vars(game) for game in games])
    done = subprocess.run(
        ["node", "write.mjs"], cwd=tmp_path, input=given, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    for number, (played, texts) in enumerate(zip(games, json.loads(done.stdout), strict=True)):
        for suffix, text in texts.items():
            game = only(tmp_path / f"{number}.{suffix}", text)
            check(game, played, timed=suffix != "ki2")
            assert game.names == ("甲", "乙")
            assert game.scores.tolist() == expected_scores(played), text


@pytest.mark.slow
def test_games_of_rsshogi_are_read(tmp_path: Path) -> None:
    games = random_games(2, 200, [START_SFEN], ["resign"])
    records = []
    for number, played in enumerate(games):
        result = GameResult.BLACK_WIN if played.result == BLACK_WINS else GameResult.WHITE_WIN
        record = Record.from_usi_main_line(
            played.sfen,
            played.moves,
            result=result,
            move_times_ms=[1000 * seconds for seconds in played.seconds[:-1]],
            evals=played.scores,
            metadata=RecordMetadata(black_player="甲", white_player="乙"),
        )
        records.append(record)
        texts = {"kif": record.to_kif(), "ki2": record.to_ki2(), "csa": record.to_csa()}
        texts["3.csa"] = record.to_csa(version="3.0")
        for suffix, text in texts.items():
            game = only(tmp_path / f"{number}.{suffix}", text)
            check(game, played, timed=False)
            assert game.names == ("甲", "乙")
    (tmp_path / "all.pack").write_bytes(write_pack(records))
    batch = read_all([tmp_path / "all.pack"])
    assert [move_to_usi(int(move)) for move in batch.move] == [usi for played in games for usi in played.moves]
    assert batch.score.tolist() == [score for played in games for score in played.scores]


def test_every_game_of_the_test_data_is_read_back_without_a_difference(data_directory: Path, tmp_path: Path) -> None:
    paths = [path for path in data_directory.iterdir() if path.suffix in (".csa", ".kif", ".kifu", ".ki2", ".usi")]
    count = 0
    for path in paths:
        for game in read_games(path):
            assert isinstance(game, Game), game
            again = only(tmp_path / "again.kifu", kif_text(game))
            for name in ("start_sfen", "first_ply", "result", "names", "comments", "variations"):
                assert getattr(again, name) == getattr(game, name), (path, name)
            for name in ("moves", "scores", "scored"):
                assert np.array_equal(getattr(again, name), getattr(game, name)), (path, name)
            seconds = np.where(game.times >= 0, game.times // 1000 * 1000, -1)  # KIF holds whole seconds
            assert np.array_equal(again.times, seconds), path
            count += 1
    assert count >= 9
