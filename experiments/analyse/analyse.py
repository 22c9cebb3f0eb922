"""Every position of games searched: for each an annotated KIF, a page to step through, and a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.analyse.annotated_kif import ENGINE, Judgement, names_of_moves, write_kif
from experiments.analyse.chosen import Chosen, choose
from experiments.analyse.figures import figures
from experiments.analyse.page import as_page
from experiments.analyse.picture import draw_analysis
from experiments.drawing.fonts import can_be_drawn, japanese_fonts
from lite.notation.game import Game, GameError
from lite.notation.kif_writer import in_columns
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.paging import back_table
from search.engine import DECLARE, Analysis, Engine
from search.rules.play import set_game
from search.rules.position import new_position
from search.rules.repetition import DRAW, LOSS, WIN, fourfold
from search.rules.sfen import move_to_usi
from search.score import MATE, is_mate, mate_plies
from search.system.bounds import MOST_THREADS, check_numbers
from search.system.files import WholeFile, check_output
from search.system.interrupt import interrupt_flag
from search.warmup import warm_up

KIF_SUFFIXES = (".kif", ".kifu")
MOVE_COLUMNS = 14
"""`▲５五銀左不成` on the terminal."""
PATIENCE = 0.2
"""Seconds between looks for a request to end."""


@dataclass(frozen=True)
class Analysing:
    """What is analysed, and how long."""

    net: str
    """The network that searches: a folded net's file, an nn.bin, or `default`."""
    games: tuple[Path, ...]
    """Files of games, or folders of such: .kif, .kifu, .ki2, .csa, or .usi (lines `startpos moves ...` or `sfen ...
    moves ...`)."""
    output: Path | None = None
    """The KIF to write, in UTF-8, page and picture beside it; of several games the folder for them. Without it
    GAME.analysed.kif."""
    number: int | None = None
    """Which game of a file that holds several; None: all."""
    milliseconds: int = 1000
    """Time for a position."""
    nodes: int | None = None
    """Nodes for a position instead of time: then the same command gives the same figures (with one thread). A search
    finishes its first iteration however few they are: of less than 500 nodes some take a few hundred more."""
    multipv: int = 1
    """Lines to look for in each position: the best, the second, and so on."""
    threads: int = 1
    """Search threads."""
    hash: int = 256
    """Megabytes of the transposition table."""
    overwrite: bool = False
    """Analyse anew, and replace, what is there already. Without it several games go on where they were cut."""


def analyse_games(options: Analysing) -> dict[str, Any]:
    """Search the positions of the games, write their files: {games: [figures with `kif`, `page` and `picture`],
    skipped: [path], refused: [why], interrupted}.

    Of several games, those whose KIF is there are skipped, and those that cannot be read refused; of one, either is an
    error. Ctrl-C, SIGTERM or SIGHUP ends it early: of one game what is done is written (KeyboardInterrupt if nothing
    is), of several only whole games; a second one waits for the files. Raises OSError or ValueError in words.
    """
    check_numbers(options, "milliseconds", "nodes", "multipv", "hash")
    check_numbers(options, "threads", most=MOST_THREADS)
    if not options.games:
        raise ValueError("no game: name files of games, or folders that hold some")
    if find_spec("matplotlib") is None:
        raise ValueError("the picture needs matplotlib: pip install 'liteshogi[train]'")
    chosen, skipped, refused = [], [], []
    for one in choose(options.games, options.number, options.output):
        if isinstance(one.game, GameError):
            if one.alone:
                raise one.game
            refused.append(str(one.game))
        elif one.output.exists() and not (one.alone or options.overwrite):
            skipped.append(str(one.output))
        else:
            _check(one, options)
            chosen.append(one)
    reports: list[dict[str, Any]] = []
    stopped = False
    if chosen:
        fonts = _fonts(name for one in chosen if isinstance(one.game, Game) for name in one.game.names)
        engine = AlphaBetaEngine(options.net, options.hash, options.threads)
        engine.multipv = options.multipv
        # The clock of the first positions must not pay for compiling, nor for the table's memory.
        warm_up()
        if options.nodes is None:
            back_table(engine.table).wait()
        with interrupt_flag(patient=True) as interrupted:
            for number, one in enumerate(chosen, 1):
                assert isinstance(one.game, Game)
                if len(chosen) > 1:
                    print(f"game {number} of {len(chosen)}: {one.game.place}", file=sys.stderr, flush=True)
                engine.new_game()
                limits = (None if options.nodes else options.milliseconds, options.nodes)
                judgements = judge(one.game, engine, *limits, interrupted)
                positions = len(one.game.moves) + 1
                if len(judgements) < positions:
                    kept = bool(judgements) and one.alone
                    writing = "; writing its files" if kept else ""
                    print(f"\nstopped after {len(judgements)} of {positions} positions{writing}", file=sys.stderr)
                    if not kept:
                        break
                reports.append(_write(one.game, judgements, one.output, options, fonts))
                if interrupted():
                    break
            stopped = interrupted()
        if stopped and not reports:
            raise KeyboardInterrupt
    return {"games": reports, "skipped": skipped, "refused": refused, "interrupted": stopped}


def _check(one: Chosen, options: Analysing) -> None:
    """Nothing is in the way of the files of a game. Raises OSError or ValueError in words."""
    if any(one.output.resolve() == path.resolve() for path in options.games):
        raise ValueError(f"{one.output}: is the game itself; name another file with -o")
    check_output(one.output, KIF_SUFFIXES, options.overwrite)
    for suffix in (".png", ".html"):
        # Of several games these belong to one that was cut before its KIF, which comes last, was written.
        check_output(one.output.with_suffix(suffix), overwrite=options.overwrite or not one.alone)


def _fonts(names: Iterable[str]) -> list[str]:
    """The fonts of the pictures. Says if they cannot write one of the players' names."""
    fonts = japanese_fonts()
    if not all(can_be_drawn(name, fonts) for name in names):
        print(
            "Black and White stand for players' names in pictures, since the system has no Japanese font; "
            "install one (Debian, Ubuntu: apt install fonts-noto-cjk), which a later run will find",
            file=sys.stderr,
        )
    return fonts


def _write(
    game: Game, judgements: list[Judgement], output: Path, options: Analysing, fonts: list[str]
) -> dict[str, Any]:
    """The files of a game; its figures with their names."""
    report = figures(game, judgements)
    every = [*judgements, *[None] * (len(game.moves) + 1 - len(judgements))]
    losses = [move["loss"] for move in report["moves"]]
    picture, page = output.with_suffix(".png"), output.with_suffix(".html")
    limit = f"{options.nodes:,} nodes" if options.nodes else f"{options.milliseconds:,} ms"
    searched = f"{ENGINE}, {Path(options.net).stem}, {limit} a position"
    # On a full disk there is none of them, and the same command may be given again.
    with WholeFile(output) as kif_file, WholeFile(page) as page_file:
        kif_file.write(write_kif(game, every, losses).encode())
        page_file.write(as_page(game, report, every, searched).encode())
        kif_file.finish()
        page_file.finish()
        draw_analysis(report, picture, fonts)
    return report | {"kif": str(output), "page": str(page), "picture": str(picture)}


def judge(
    game: Game, engine: Engine, milliseconds: int | None, nodes: int | None, interrupted: Callable[[], bool]
) -> list[Judgement]:
    """Search the positions of a game, the first one and that after each move; fewer where `interrupted` says so.

    Every position takes so long, or so many nodes, and has as many lines as the engine's `multipv`. Only a fourth
    occurrence ends a game; what that of the last position makes of it is its judgement.
    """
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    done: list[Judgement] = []
    black_first = game.start_sfen.split()[1] == "b"

    def search(ply: int) -> list[Analysis]:
        if ply == len(moves) and (repeated := _repeated(game.start_sfen, moves)) is not None:
            return [repeated]
        told = (game.start_sfen, moves[:ply])
        return engine.analyse(*told, nodes=nodes, time_ms=milliseconds, multipv=engine.multipv, analysis=True)

    # Compiled code hears no signal: it runs in a thread of its own while this one looks for Ctrl-C.
    with ThreadPoolExecutor(1) as worker:
        for ply in range(len(moves) + 1):
            searching = worker.submit(search, ply)
            while wait([searching], PATIENCE).not_done and not interrupted():
                pass
            if interrupted():
                engine.stop()
                return done
            black = (ply % 2 == 0) == black_first
            best, *others = (_judgement(found, black) for found in searching.result())
            done.append(Judgement(best.score, best.win_rate, best.depth, best.nodes, best.line, tuple(others)))
            _tell(ply, len(moves), names[ply - 1] if ply else "", done[-1])
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return done


def _repeated(start: str, moves: list[str]) -> Analysis | None:
    """What the rule says of a position that has occurred four times: a draw, or that perpetual check has lost."""
    pos = new_position()
    set_game(pos, start, moves)
    score = {DRAW: 0, WIN: MATE, LOSS: -MATE}.get(int(fourfold(pos)))
    return None if score is None else Analysis(None, score, win_rate=0.5 + score / (2 * MATE))


def _judgement(found: Analysis, black: bool) -> Judgement:
    """A line in black's view, whoever moves."""
    return Judgement(
        score=found.score if black else -found.score,
        win_rate=found.win_rate if black else 1 - found.win_rate,
        depth=found.depth,
        nodes=found.nodes,
        line=found.pv,
    )


def _tell(ply: int, plies: int, move: str, found: Judgement) -> None:
    """Progress on standard error, on one line where that is a terminal."""
    terminal = sys.stderr.isatty()
    score = "declaration" if found.line[:1] == (DECLARE,) else score_text(found.score)
    rate = 100 * found.win_rate
    text = f"{ply:3d}/{plies} {in_columns(move, MOVE_COLUMNS)} {score:>11s}  {rate:5.1f} %  depth {found.depth}"
    print(f"\r{text}\x1b[K" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)


def score_text(score: int) -> str:
    """A score of black's view: centipawns, or `mate 5` and `mate -5`."""
    return f"mate {mate_plies(score)}" if is_mate(score) else f"{score:+d}"
