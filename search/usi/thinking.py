"""From `go` to `bestmove`: rules, book, search and perhaps a mate solver beside it, and an answer in every case."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from search.clock import OWN_DELAY, Punctuality
from search.score import is_mate, mate_plies
from search.system.files import message_of
from search.system.threads import started
from search.usi.adapter import Adapter, Say
from search.usi.book_options import NO_BOOK, book_rules
from search.usi.go import Go
from search.usi.usi_options import OptionValues

if TYPE_CHECKING:
    import numpy as np

    from search.book.book_move import Book
    from search.engine import Analysis, Engine, Progress
    from search.mate.root_mate import RootMate
    from search.mate.solver import MateSolver, StopFlag


class Thinking:
    """Runs one search at a time in a thread of its own. If something besides the search fails, that is reported once.

    The thread lives as long as the session, because starting one takes as long as a search of a few hundred nodes.
    """

    def __init__(
        self, options: OptionValues, adapter: Adapter, write: Callable[[str], None], say: Say, say_once: Say
    ) -> None:
        self._options = options
        self._in_force = options
        """Options of the search under way; a GUI may set others meanwhile."""
        self._adapter = adapter
        self._write = write
        self._say = say
        self._say_once = say_once
        self._thread: threading.Thread | None = None
        self._searches: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._done = threading.Event()
        self._done.set()
        self._answering = threading.Event()
        """Set before the answer is written: a GUI that has read it may send its next commands before `_done` is set."""
        self._interrupt: Callable[[], None] = lambda: None
        self._release = threading.Event()
        self._is_limited = False
        """Whether the search under way ends by itself and writes its move then."""
        self._books: list[Book] = []
        """The books of BookFile in their order of priority."""
        self._books_due = True
        """Whether the books have to be opened: at the start, and after a GUI has set an option of theirs."""
        self._books_faulty = False
        """Whether a fault of a book was reported since the books were opened."""
        self._solver: MateSolver | None = None
        self._root_mate: RootMate | None = None
        self._unwritten: list[str] = []
        """Lines of the last report, which are written with the move: a line alone would wake the reader, which might
        take this thread's core."""
        self.punctuality = Punctuality()

    def running(self) -> bool:
        """Whether a search is under way or holds its move. If its answer is being written, wait until it has ended."""
        if self._answering.is_set():
            self._done.wait()
        return not self._done.is_set()

    def held(self) -> bool:
        """Whether the move of the search under way is held until it is requested."""
        return self.running() and not self._release.is_set()

    def release(self) -> None:
        """Let the move be written as soon as it is found."""
        self._release.set()

    def wait(self, seconds: float) -> None:
        """Wait until the search has written its move, if it has a limit and its move is not held, at most `seconds`
        seconds."""
        if self._is_limited:
            self._done.wait(seconds)

    def end(self, seconds: float | None = None) -> None:
        """End the search, if any, and wait until it has written its move, at most `seconds` seconds."""
        if not self._done.is_set():
            self._interrupt()
            self._release.set()
            self._done.wait(seconds)

    def _start(self, search: Callable[[], None]) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = started(threading.Thread(target=_serve, args=(self._searches, self._done)))
        if self._thread is None:  # a quick move is better than none
            self._interrupt()
            self._release.set()
            search()
            return
        self._answering.clear()
        self._done.clear()
        self._searches.put(search)

    def prepare(self) -> None:
        """Open the book and make the mate solver if the options request them, so that no move waits for them."""
        if self._options.number("Mate_Root_Search") and self._root_mate is None:
            from search.mate.root_mate import RootMate

            with self._beside("Mate_Root_Search", "it"):
                self._root_mate = RootMate()
        if self._books_due:
            self._books_due, self._books_faulty, self._books = False, False, []
            with self._beside("BookFile", "a book"):
                self._books = self._open_books()

    def _open_books(self) -> list[Book]:
        name = self._options.text("BookFile")
        if name == NO_BOOK:
            return []
        from search.book.priority import book_paths, open_books

        path = Path(self._options.text("BookDir"), name).absolute()
        if self._options.is_default("BookFile") and not book_paths(path, self._report_book)[0].exists():
            return []  # the default book need not exist
        return open_books(path, self._report_book)

    def _report_book(self, fault: str) -> None:
        self._books_faulty = True
        self._say_once(fault)

    def try_again(self) -> None:
        """Open books with faults again; called at `isready`."""
        self._books_due |= self._books_faulty

    def option_set(self, name: str) -> None:
        """Note that a GUI has set this option: the same path may hold another book. A running search keeps its own."""
        if name in ("BookFile", "BookDir"):
            self._books_due = True

    @contextlib.contextmanager
    def _beside(self, what: str, name: str) -> Iterator[None]:
        """Report any exception inside, and continue without the named part."""
        try:
            yield
        except Exception as error:
            self._say_once(f"{what}: {message_of(error)}; continuing without {name}")

    # A search for a move

    def begin(self, engine: Engine | None, said: Go) -> None:
        """Search the engine's position, which is `ready`; without an engine or a position the answer is to resign."""
        self._in_force = self._options.copy()
        self._release = threading.Event()
        if not (said.ponder or said.infinite):
            self._release.set()
        options = map(self._in_force.number, ("NodesLimit", "DepthLimit"))
        self._is_limited = said.is_limited or (self._release.is_set() and any(options))
        if engine is not None:
            self._interrupt = engine.stop
        self._start(partial(self._think, engine, said, self._release))

    def _think(self, engine: Engine | None, said: Go, release: threading.Event) -> None:
        best = None
        if engine is not None:
            if not said.infinite and not said.searchmoves:
                with self._beside("BookFile", "a book"):
                    best = self._book_move(engine)
            try:
                best = best or self._search(engine, said)
            except Exception as error:
                self._say(f"the search failed: {type(error).__name__}: {error}; playing a legal move")
                best = _any_move(engine)
        # A pondering or infinite search that has ended by itself holds its move until it is requested.
        if not release.is_set():
            self._write_lines()
        release.wait()
        answer = self._bestmove(best, engine)
        # Read the clock before writing the move: its reader may then use this thread's core.
        late = None if engine is None else engine.clock.overdue()
        self._answering.set()
        self._write_lines(answer)
        if late is not None:
            self.punctuality.note(late)

    def _book_move(self, engine: Engine) -> Analysis | None:
        """Return the book's move for the current position and report its candidates as lines; None if there is none."""
        if not self._books or not self._in_force.flag("USI_OwnBook"):
            return None
        from search.book.choice import choose
        from search.engine import Limits

        if engine.decided(Limits()) is not None:  # a declaration wins at once
            return None
        found = choose(self._books, engine.position, book_rules(self._in_force), self._report_book)
        if found is None:
            return None
        engine.limit(None)
        for line in found.lines:
            self._write(f"info {line}")
        return found.analysis

    def _search(self, engine: Engine, said: Go) -> Analysis:
        """Return the search's result, or a mate that the solver has proved meanwhile (Mate_Root_Search, in nodes)."""
        from search.engine import Limits
        from search.rules.declaration import TRY_RULE

        solver, nodes = self._root_mate, self._in_force.number("Mate_Root_Search")
        is_weaker = engine.level is not None and not said.infinite
        # By the try rule a check may be answered by a win, which the solver does not consider.
        if said.searchmoves or engine.multipv > 1 or not nodes or engine.rules.declaration == TRY_RULE or is_weaker:
            solver = None
        limits = Limits(
            self._limited(said.nodes, "NodesLimit"),
            self._limited(said.depth, "DepthLimit"),
            said.searchmoves,
            analysis=said.infinite,
        )
        if solver is not None:
            with self._beside("Mate_Root_Search", "it"):
                solver.begin(engine.position, nodes, engine.stop, engine.rules.max_moves)
        mate = None
        reported: Analysis | None = None

        def report_lines(found: Sequence[Analysis], ended: bool) -> None:
            nonlocal reported
            reported = found[-1] if found else reported
            self._unwritten += [self._info(line, engine.multipv) for line in found]
            if not ended:
                self._write_lines()

        def report_progress(found: Progress) -> None:
            nonlocal reported
            reported = None
            self._progress(found)

        try:
            lines = engine.search(limits, report_lines, report_progress)
        finally:
            if solver is not None:
                with self._beside("Mate_Root_Search", "it"):
                    mate = solver.end()
        best = lines[0]
        if mate is None or best.best_move in (None, "win"):
            if reported is None or (engine.multipv == 1 and (best.nodes > reported.nodes or best.pv != reported.pv)):
                # Report the cost of the interrupted last depth, or the line that other threads voted for. Some readers
                # take a report without a line for the best line (ShogiArena, Ayane), so no search ends with one.
                self._unwritten += [self._info(line, engine.multipv) for line in lines if line.depth]
            return best
        from search.mate.root_mate import with_mate  # already loaded; without a solver no move waits for the import

        best = with_mate(best, mate)
        self._unwritten.append(self._info(best, 1))
        return best

    def _limited(self, asked: int | None, name: str) -> int | None:
        """Return the smaller of the limit in `go` and the limit in an option; 0 in an option means no limit."""
        allowed = self._in_force.number(name) or None
        return min(filter(None, (asked, allowed)), default=None)

    def _bestmove(self, best: Analysis | None, engine: Engine | None) -> str:
        if engine is None or best is None or best.best_move is None:
            return "bestmove resign"
        if best.best_move == "win":
            return "bestmove win"
        # The move that a level plays may lose a position that is not lost.
        score = best.score if best.best_score is None else best.best_score
        # A draw may have a low value, but it is not lost.
        drawn = score == engine.rules.draw_value[engine.position["turn"]]
        if best.depth and score <= -self._in_force.number("ResignValue") and not drawn:
            return "bestmove resign"
        # After a reply that mates there is nothing to ponder on, and a `resign` from there would be read as the game's.
        mated = is_mate(best.score) and mate_plies(best.score) == -2
        ponder = self._in_force.flag("USI_Ponder") and best.ponder_move and not mated
        return f"bestmove {best.best_move}" + (f" ponder {best.ponder_move}" if ponder else "")

    def _write_lines(self, *more: str) -> None:
        """Write the lines that were kept back, and more, at once."""
        lines, self._unwritten = [*self._unwritten, *more], []
        if lines:
            self._write("\n".join(lines))

    def _info(self, found: Analysis, lines: int) -> str:
        multi = f" multipv {found.rank}" if lines > 1 else ""
        chances = ""
        if self._in_force.flag("UCI_ShowWDL"):
            chances = " wdl {} {} {}".format(*self._adapter.chances(found))
        line = " ".join(("", "pv", *found.pv)) if found.pv else ""
        return (
            f"info depth {found.depth} seldepth {found.seldepth}{multi} score {found.score_text}{chances} "
            f"nodes {found.nodes} nps {found.nps} hashfull {found.hashfull} time {found.milliseconds}{line}"
        )

    def _progress(self, found: Progress) -> None:
        # ShogiHome takes a report with a depth, a time or a move for a line that replaces the previous one.
        self._write(f"info nodes {found.nodes} nps {found.nps} hashfull {found.hashfull}")

    # A search for mate

    def solve(self, engine: Engine | None, milliseconds: int, nodes: int | None) -> None:
        """Run `go mate`: milliseconds of -1 and nodes of None mean no limit."""
        if engine is None:
            self._write("checkmate timeout")
            return
        from search.mate.solver import StopFlag

        stop = StopFlag()
        self._interrupt = stop.set
        self._release.set()
        limit = None if milliseconds < 0 else max(1, milliseconds - OWN_DELAY)
        self._is_limited = limit is not None or nodes is not None
        self._start(partial(self._solve, engine.position.copy(), limit, nodes, stop))

    def _solve(self, position: np.void, limit: int | None, nodes: int | None, stop: StopFlag) -> None:
        """Run a mate search from `go mate` to `checkmate`."""
        from search.mate.solver import MateSolver, MateStatus

        answer = "timeout"
        try:
            self._solver = self._solver or MateSolver()
            found = self._solver.solve(position, milliseconds=limit, nodes=nodes, stop=stop)
            if found.status is MateStatus.MATE:
                answer = " ".join(found.moves)
            elif found.status is MateStatus.NO_MATE:
                answer = "nomate"
            milliseconds = int(found.seconds * 1000)
            rate = int(found.nodes / max(found.seconds, 0.001))
            self._write(f"info nodes {found.nodes} nps {rate} time {milliseconds}")
        except Exception as error:
            self._say(f"the mate search failed: {type(error).__name__}: {error}")
        self._answering.set()
        self._write(f"checkmate {answer}")


def _serve(searches: queue.SimpleQueue[Callable[[], None]], done: threading.Event) -> None:
    """Run searches one after the other."""
    while True:
        search = searches.get()
        try:
            search()
        finally:
            del search  # release what it refers to
            done.set()


def _any_move(engine: Engine) -> Analysis | None:
    """Return a legal move without a search; None if there is none."""
    from search.engine import Analysis, root_moves
    from search.rules.sfen import move_to_usi

    moves = root_moves(engine.position)
    return Analysis(move_to_usi(int(moves[0])), 0) if len(moves) else None
