"""Analyse games: search every position, and write an annotated KIF, a page and a picture of each game."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from experiments.analyse.annotated_kif import ENGINE, Judgement, write_kif
from experiments.analyse.as_text import words_for_game
from experiments.analyse.chosen import Chosen, choose
from experiments.analyse.figures import figures
from experiments.analyse.page import as_page
from experiments.analyse.picture import draw_analysis, texts
from experiments.analyse.result import AnalysedGame, AnalysedGames
from experiments.analyse.searching import search_game
from experiments.drawing.fonts import can_be_drawn, japanese_fonts
from experiments.language.catalogue import reading, shown
from experiments.language.choose import Language, words_for
from experiments.language.japanese_game import is_japanese_game
from experiments.language.words import Words
from lite.notation.game import Game, GameError
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.paging import back_table
from search.evaluation.shipped import network_file
from search.system.bounds import MOST_THREADS, check_numbers
from search.system.files import WholeFile, check_output
from search.system.interrupt import interrupt_flag
from search.system.options import OptionError
from search.warmup import warm_up

KIF_SUFFIXES = (".kif", ".kifu")


@dataclass(frozen=True)
class Analysing:
    """Options of an analysis of games."""

    net: str = "default"
    """Network of the search: a file of the engine, an nn.bin, or `default`."""
    games: tuple[Path, ...] = ()
    """Game files, or folders that hold some: .kif, .kifu, .ki2, .csa, or .usi (lines `startpos moves ...` or
    `sfen ... moves ...`)."""
    output: Path | None = None
    """KIF to write, in UTF-8, with page and picture beside it; for several games the folder for them. Default:
    GAME.analysed.kif beside each game."""
    number: int | None = None
    """Number of the game in a file that holds several, from 1. Default: all games."""
    milliseconds: int = 1000
    """Milliseconds per position."""
    nodes: int | None = None
    """Nodes per position instead of time; with one thread the figures are reproducible. A search always finishes its
    first iteration, so it may exceed a limit below 500 by up to about 2,000 nodes."""
    multipv: int = 1
    """Number of lines per position: the best, the second best, and so on."""
    threads: int = 1
    """Search threads."""
    hash_mb: int = 256
    """Size of the transposition table in MB."""
    overwrite: bool = False
    """Analyse again what was analysed before, and replace its files. Without it, a run over several games resumes."""
    language: Language = "auto"
    """Language of texts and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese or the game is
    a KIF or KI2 file, whatever its suffix."""


def analyse_games(options: Analysing) -> AnalysedGames:
    """Search the positions of the games and write the files of each.

    Of several games, those whose KIF exists are skipped, and those that cannot be read are refused; a single game
    raises an error instead. Ctrl-C, SIGTERM or SIGHUP ends the analysis: of a single game the searched positions are
    written (KeyboardInterrupt if there are none), of several games only complete ones. A second signal waits until the
    files are written. Raises OSError, ValueError or OptionError.
    """
    check_numbers(options, "milliseconds", "nodes", "multipv", "hash_mb")
    check_numbers(options, "threads", most=MOST_THREADS)
    words = words_for(options.language, any(map(is_japanese_game, options.games)))
    if not options.games:
        raise OptionError(f"`games`: {words.no_game_given}", "games")
    if find_spec("matplotlib") is None:
        raise ValueError(words.needs_matplotlib)
    chosen, skipped, refused = [], [], []
    for one in choose(options.games, options.number, options.output, words):
        if isinstance(one.game, GameError):
            if one.alone:
                raise one.game
            refused.append(str(one.game))
        elif one.output.exists() and not (one.alone or options.overwrite):
            skipped.append(one.output)
        else:
            _check(one, options, words)
            chosen.append((one, one.game))
    done: list[AnalysedGame] = []
    stopped = False
    if chosen:
        fonts = _fonts((name for _, game in chosen for name in game.names), words)
        engine = AlphaBetaEngine(options.net, options.hash_mb, options.threads)
        engine.multipv = options.multipv
        # The clock of the first positions must include neither compiling nor the allocation of the table.
        warm_up()
        if options.nodes is None:
            back_table(engine.table).wait()
        with interrupt_flag(patient=True) as interrupted:
            for number, (one, game) in enumerate(chosen, 1):
                own = words_for_game(words_for(options.language, one.japanese), game)
                if len(chosen) > 1:
                    with reading(own):
                        place = shown(game.place)
                    start = own.progress_game.format(number=number, count=len(chosen), place=place)
                    print(start, file=sys.stderr, flush=True)
                engine.new_game()
                limits = (None if options.nodes else options.milliseconds, options.nodes)
                judgements = search_game(game, engine, *limits, interrupted, own)
                positions = len(game.moves) + 1
                if len(judgements) < positions:
                    kept = bool(judgements) and one.alone
                    message = own.stopped_writing if kept else own.stopped
                    print("\n" + message.format(done=len(judgements), positions=positions), file=sys.stderr)
                    if not kept:
                        break
                done.append(_write(game, judgements, one.output, options, fonts, own))
                if interrupted():
                    break
            stopped = interrupted()
        if stopped and not done:
            raise KeyboardInterrupt
    return AnalysedGames(tuple(done), tuple(skipped), tuple(refused), stopped)


def _check(one: Chosen, options: Analysing, words: Words) -> None:
    """Raise OSError, ValueError or OptionError if a game's files cannot be written."""
    if any(one.output.resolve() == path.resolve() for path in options.games):
        raise OptionError(words.output_is_input.format(path=one.output), "output")
    inputs = (network_file(options.net),)
    check_output(one.output, KIF_SUFFIXES, options.overwrite, inputs)
    for suffix in (".png", ".html"):
        # Of several games, these are left over from a run that was interrupted before it wrote the KIF, which is last.
        overwrite = options.overwrite or not one.alone
        check_output(one.output.with_suffix(suffix), overwrite=overwrite, inputs=inputs)


def _fonts(names: Iterable[str], words: Words) -> list[str]:
    """Return the fonts of the pictures, with a warning if they lack characters of a player's name or the language."""
    fonts = japanese_fonts()
    if not all(can_be_drawn(name, fonts) for name in (*names, *texts(words))):
        print(words.no_font, file=sys.stderr)
    return fonts


def _write(
    game: Game, judgements: list[Judgement], output: Path, options: Analysing, fonts: list[str], words: Words
) -> AnalysedGame:
    """Write the files of a game."""
    found = figures(game, judgements)
    every = [*judgements, *[None] * (len(game.moves) + 1 - len(judgements))]
    losses = [move.loss for move in found.moves]
    picture, page = output.with_suffix(".png"), output.with_suffix(".html")
    limit = options.nodes or options.milliseconds
    searched = (words.searched_nodes if options.nodes else words.searched_ms).format(
        engine=ENGINE, network=Path(options.net).stem, limit=f"{limit:,}"
    )
    # On a full disk none of the files remains, so that the same command can be given again.
    with WholeFile(output) as kif_file, WholeFile(page) as page_file:
        kif_file.write(write_kif(game, every, losses).encode())
        page_file.write(as_page(game, found, every, searched, words).encode())
        kif_file.finish()
        page_file.finish()
        draw_analysis(found, picture, fonts, words)
    return AnalysedGame(found, output, page, picture, words)
