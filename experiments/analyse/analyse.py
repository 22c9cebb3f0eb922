"""Every position of a game searched; an annotated KIF, and a picture of the win rate."""

from __future__ import annotations

import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import cshogi

from experiments.analyse.annotated_kif import (
    Judgement,
    japanese,
    mark_of,
    names_of_moves,
    result_in_words,
    write_kif,
)
from experiments.pictures import draw_analysis, japanese_font
from lite.notation.game import Game, GameError
from lite.notation.games import read_games
from lite.notation.kif_writer import in_columns
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.paging import back_table
from search.engine import Engine
from search.machine.files import check_output, write_atomically
from search.rules.sfen import move_to_usi
from search.score import is_mate, mate_plies
from search.warmup import warm_up

MOVE_COLUMNS = 14
"""`▲５五銀左不成` on the terminal."""
PATIENCE = 0.2
"""Seconds between looks for Ctrl-C."""
IN_ENGLISH = {"大悪手": "blunder", "悪手": "mistake", "疑問手": "doubtful", "緩手": "slack"}


@dataclass(frozen=True)
class Analysing:
    """What is analysed, and how long."""

    net: str
    """The network that searches: a folded net's file, an nn.bin, or `default`."""
    game: Path
    """File of the game: .kif, .kifu, .ki2, .csa, or .usi (a line `startpos moves ...` or `sfen ... moves ...`)."""
    output: Path | None = None
    """The KIF to write, in UTF-8; the picture goes beside it. Without it GAME.analysed.kif."""
    number: int = 1
    """Which game of the file."""
    milliseconds: int = 1000
    """Time for a position."""
    nodes: int | None = None
    """Nodes for a position instead of time: then the same command gives the same figures (with one thread)."""
    threads: int = 1
    """Search threads."""
    hash: int = 256
    """Megabytes of the transposition table."""
    overwrite: bool = False
    """Replace the KIF and the picture if they are there."""


def analyse_game(options: Analysing) -> dict[str, Any]:
    """Search the positions, write the KIF and the picture; the figures, with `kif`, `picture` and `interrupted`.

    Ctrl-C ends it early, and what is done is written; KeyboardInterrupt if nothing is done yet. Raises OSError or
    ValueError in words.
    """
    least = (options.milliseconds, options.threads, options.hash, 1 if options.nodes is None else options.nodes)
    if min(least) < 1:
        raise ValueError("--milliseconds, --nodes, --threads and --hash must be at least 1")
    if find_spec("matplotlib") is None:
        raise ValueError("the picture needs matplotlib: pip install 'liteshogi[train]'")
    game = find_game(options.game, options.number)
    output = options.output or options.game.with_name(f"{options.game.stem}.analysed.kif")
    if output.resolve() == options.game.resolve():
        raise ValueError(f"{output}: is the game itself; name another file with -o")
    picture = output.with_suffix(".png")
    check_output(output, (".kif", ".kifu"), options.overwrite)
    check_output(picture, overwrite=options.overwrite)
    engine = AlphaBetaEngine(options.net, options.hash, options.threads)
    # The clock of the first positions must not pay for compiling, nor for the table's memory.
    warm_up()
    if options.nodes is None:
        back_table(engine.table).wait()
    judgements, interrupted = judge(game, engine, None if options.nodes else options.milliseconds, options.nodes)
    if not judgements:
        raise KeyboardInterrupt
    report = figures(game, judgements)
    every = [*judgements, *[None] * (len(game.moves) + 1 - len(judgements))]
    text = write_kif(game, every, [move["loss"] for move in report["moves"]], "LiteShogi")
    write_atomically(output, text.encode())
    font = japanese_font()
    if font is None and not "".join(game.names).isascii():
        print(
            f"{picture}: Black and White stand for the players' names, since the system has no Japanese font; "
            "install one (Debian, Ubuntu: apt install fonts-noto-cjk) and draw again",
            file=sys.stderr,
        )
    draw_analysis(report, picture, font)
    return report | {"kif": str(output), "picture": str(picture), "interrupted": interrupted}


def find_game(path: Path, number: int) -> Game:
    """The game of that number (from 1) in a file, finished or not. Raises OSError or ValueError in words."""
    if number < 1:
        raise ValueError("--number counts from 1")
    found = next(islice(read_games(path, unfinished=True), number - 1, number), None)
    if found is None:
        raise ValueError(f"{path}: has no game number {number}")
    if isinstance(found, GameError):
        raise found
    return found


def judge(game: Game, engine: Engine, milliseconds: int | None, nodes: int | None) -> tuple[list[Judgement], bool]:
    """Search the positions of a game, the first one and that after each move, and whether Ctrl-C ended it early.

    Every position takes so long, or so many nodes.
    """
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    done: list[Judgement] = []
    black_first = game.start_sfen.split()[1] == "b"
    # Compiled code hears no signal: it runs in a thread of its own while this one waits for Ctrl-C.
    with ThreadPoolExecutor(1) as worker:
        try:
            for ply in range(len(moves) + 1):
                search = worker.submit(engine.analyse, game.start_sfen, moves[:ply], nodes=nodes, time_ms=milliseconds)
                while not search.done():
                    try:
                        search.result(PATIENCE)
                    except NotYet:
                        continue
                found = search.result()
                black = (ply % 2 == 0) == black_first
                done.append(
                    Judgement(
                        score=found.score if black else -found.score,
                        win_rate=found.win_rate if black else 1 - found.win_rate,
                        depth=found.depth,
                        nodes=found.nodes,
                        line=found.pv,
                    )
                )
                _tell(ply, len(moves), names[ply - 1] if ply else "", done[-1])
        except KeyboardInterrupt:
            engine.stop()
            print(f"\nstopped after {len(done)} of {len(moves) + 1} positions", file=sys.stderr)
            return done, True
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return done, False


def _tell(ply: int, plies: int, move: str, found: Judgement) -> None:
    """Progress on standard error, on one line where that is a terminal."""
    terminal = sys.stderr.isatty()
    score, rate = score_text(found.score), 100 * found.win_rate
    text = f"{ply:3d}/{plies} {in_columns(move, MOVE_COLUMNS)} {score:>9s}  {rate:5.1f} %  depth {found.depth}"
    print(f"\r{text}\x1b[K" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)


def score_text(score: int) -> str:
    """A score of black's view: centipawns, or `mate 5` and `mate -5`."""
    return f"mate {mate_plies(score)}" if is_mate(score) else f"{score:+d}"


def figures(game: Game, judgements: list[Judgement]) -> dict[str, Any]:
    """What was found, as JSON. Scores in centipawns and win rates are black's; a move's `loss` is of its own side's
    win rate, from what the best move would have kept. Moves are USI, and with `_name` as players write them."""
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    board = cshogi.Board(game.start_sfen)
    black_first = game.start_sfen.split()[1] == "b"
    rows: list[dict[str, Any]] = []
    for ply, usi in enumerate(moves, 1):
        row: dict[str, Any] = {
            "ply": ply,
            "side": "black" if (ply % 2 == 1) == black_first else "white",
            "move": usi,
            "move_name": names[ply - 1],
            "score": None,
            "mate": None,
            "win_rate": None,
            "loss": None,
            "mark": None,
            "best": None,
            "best_name": None,
            "line": None,
            "depth": None,
            "nodes": None,
        }
        if ply <= len(judgements):
            row["best"] = next(iter(judgements[ply - 1].line), None)
            row["best_name"] = japanese(board, judgements[ply - 1].line[:1]) or row["best"]
        board.push_usi(usi)
        if ply < len(judgements):
            before, after = judgements[ply - 1], judgements[ply]
            # The best move loses nothing, whatever a deeper look one move later says.
            lost = 0.0 if usi == row["best"] else before.win_rate - after.win_rate
            loss = max(0.0, lost if row["side"] == "black" else -lost)
            row |= {
                "score": None if is_mate(after.score) else after.score,
                "mate": mate_plies(after.score) if is_mate(after.score) else None,
                "win_rate": round(after.win_rate, 4),
                "loss": round(loss, 4),
                "mark": IN_ENGLISH.get(mark_of(loss)),
                "line": list(after.line),
                "depth": after.depth,
                "nodes": after.nodes,
            }
        rows.append(row)
    first = judgements[0]
    return {
        "game": game.place,
        "names": list(game.names),
        "start": game.start_sfen,
        "result": result_in_words(game),
        "complete": len(judgements) == len(moves) + 1,
        "first": {
            "score": None if is_mate(first.score) else first.score,
            "mate": mate_plies(first.score) if is_mate(first.score) else None,
            "win_rate": round(first.win_rate, 4),
            "line": list(first.line),
        },
        "moves": rows,
        "black": _summary(rows, "black"),
        "white": _summary(rows, "white"),
    }


def _summary(rows: list[dict[str, Any]], side: str) -> dict[str, Any]:
    own = [row for row in rows if row["side"] == side and row["loss"] is not None]
    return {
        "moves": len(own),
        "as_the_best": sum(row["move"] == row["best"] for row in own),
        "mean_loss": round(statistics.fmean(row["loss"] for row in own), 4) if own else None,
        **{mark: sum(row["mark"] == mark for row in own) for mark in IN_ENGLISH.values()},
    }
