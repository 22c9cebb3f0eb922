"""The USI protocol: lines in, lines out, and the engine in between.

`usi` is answered before anything that compiles is imported, which takes a second; a thread imports it meanwhile. One
thread reads lines, another obeys them, and `go` and `isready` run in threads of their own: `stop` is heard while a
search runs, `quit` and the end of input while anything does. Whatever cannot be read or done is answered by an
`info string` in words, and the engine lives on.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from search.alphabeta.paging import back_table, grow_table
from search.clock import OWN_DELAY, Budget, Limits, Margins, after_pondering, plan
from search.usi.go import parse_go, shown
from search.usi.options import DEFAULT_FV_SCALE, ENTERING_KING_RULES, NO_BOOK, Option, OptionValues
from search.usi.streams import FAREWELL_SECONDS, MAX_LINE, SCRIPT_SECONDS

if TYPE_CHECKING:
    import numpy as np

    from search.alphabeta.engine import Analysis, Engine
    from search.mate.root import RootMate
    from search.mate.solver import MateSolver, StopFlag
    from search.usi.book import Book

NAME = "LiteShogi"
AUTHOR = "the LiteShogi authors"
KEEP_ALIVE_SECONDS = 5.0
"""A GUI that waits for `readyok` gets an empty line this often."""
LAST_WORD_SECONDS = 0.5
"""How long the end of input waits for a search to say its move."""
BACKING_SECONDS = 1.0
"""How long after `isready` the answer may still be held back for the table's memory."""
LONGEST_COMPLAINT = 400
FALLBACK_HASH = 16
"""Megabytes of the table when the one asked for does not fit at the start."""


class Protocol:
    """One session: `handle` takes a line and returns False at `quit`.

    Another engine speaks USI by a subclass: its options, `_make_engine`, `_apply_option` and what else it does its own
    way.
    """

    name = NAME
    costly: tuple[str, ...] = ("USI_Hash", "Threads", "EvalFile")
    """Options that reserve memory or read a file: applied once for each value."""

    def __init__(self, write: Callable[[str], None], options: tuple[Option, ...] | None = None) -> None:
        self._begun = time.monotonic()
        self._write = write
        self._options = OptionValues(options)
        self._engine: Engine | None = None
        self._applied: dict[str, str] = {}
        self._parameters: dict[str, int] = {}
        self._network = ""
        self._book: Book | None = None
        self._book_path: Path | None = None
        self._readying: threading.Thread | None = None
        self._backing: threading.Event | None = None
        self._search: threading.Thread | None = None
        self._interrupt: Callable[[], None] = lambda: None
        self._solver: MateSolver | None = None
        self._root_mate: RootMate | None = None
        self._release = threading.Event()
        self._limits = Limits()
        self._go_time = 0.0
        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
            "usi_tunables": self._usi_tunables,
            "setoption": self._setoption,
            "usinewgame": self._usinewgame,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._stop(),
            "ponderhit": self._ponderhit,
            "gameover": lambda _: self._stop(),
        }

    def handle(self, line: str) -> bool:
        """Answer one line; False when the session is over."""
        if len(line) > MAX_LINE:
            self._say(f"a line of more than {MAX_LINE} characters is too long, it was not read")
            return True
        words = line.lstrip("\ufeff").split(maxsplit=1)
        if not words:
            return True
        name, rest = words[0], words[1] if len(words) > 1 else ""
        if name == "quit":
            return False
        if self._readying is not None:
            self._readying.join()
            self._readying = None
        command = self._commands.get(name)
        if command is None:
            self._say(f"unknown command {shown(name)}; known are {' '.join(self._commands)} quit")
            return True
        try:
            command(rest)
        except (ValueError, OSError, MemoryError, ImportError) as error:
            self._say(str(error))
        except Exception as error:  # a defect of this program; a game is worth more than a traceback
            self._say(f"{name} failed: {type(error).__name__}: {error}")
        return True

    def close(self) -> None:
        """The session is over: what is getting ready says so, a search says its move."""
        if self._readying is not None:
            self._readying.join(max(FAREWELL_SECONDS, self._begun + SCRIPT_SECONDS - time.monotonic()))
        self._release.set()
        if self._search is not None:
            self._interrupt()
            self._search.join(LAST_WORD_SECONDS)

    def _say(self, text: str) -> None:
        text = " ".join(text.split())
        if len(text) > LONGEST_COMPLAINT:
            text = text[: LONGEST_COMPLAINT // 2] + " ... " + text[-LONGEST_COMPLAINT // 2 :]
        self._write("info string " + text)

    # Getting ready

    def _usi(self, _: str) -> None:
        self._write(f"id name {self.name}")
        self._write(f"id author {AUTHOR}")
        for option in self._options.declared:
            self._write(option.declaration())
        self._write("usiok")
        # Numba takes half a second to import: begin while the GUI sends its options.
        threading.Thread(target=_import_engine, daemon=True).start()

    def _usi_tunables(self, _: str) -> None:
        """ShogiArena's question for a list of tunable options; the options that were declared say it all."""
        self._write("usi_tunablesok")

    def _isready(self, _: str) -> None:
        self._readying = threading.Thread(target=self._get_ready, daemon=True)
        self._readying.start()

    def _get_ready(self) -> None:
        begun = time.monotonic()
        done = threading.Event()
        keeper = threading.Thread(target=self._keep_alive, args=(done,), daemon=True)
        keeper.start()
        try:
            if self._applied.get("EvalFile") != self._network:
                self._applied.pop("EvalFile", None)  # it could not be read last time; it may have been mended
            self._ready_engine()
            if self._backing is not None:
                self._backing.wait(max(0.0, begun + BACKING_SECONDS - time.monotonic()))
        except Exception as error:  # the GUI waits for `readyok` whatever happened
            self._say(str(error) or type(error).__name__)
        finally:
            done.set()
            keeper.join()
        self._write("readyok")

    def _keep_alive(self, done: threading.Event) -> None:
        while not done.wait(KEEP_ALIVE_SECONDS):
            self._write("")

    def _ready_engine(self) -> Engine:
        """The engine with the options in force, made at the first call: compiled, its table reserved, its net read."""
        if self._engine is None:
            self._engine = self._make_engine()
        if not self._thinking():
            self._apply_options(self._engine)
        return self._engine

    def _make_engine(self) -> Engine:
        from search.alphabeta.transposition import TranspositionTable
        from search.warmup import small_network, warm_up

        # The table comes first: its memory is backed while code is loaded or compiled.
        self._applied["USI_Hash"] = wanted = self._options.text("USI_Hash")
        try:
            table = TranspositionTable(int(wanted))
        except MemoryError as error:
            table = TranspositionTable(FALLBACK_HASH)
            self._say(f"{error}; going on with {FALLBACK_HASH} MB")
        self._backing = back_table(table)
        warm_up()
        from search.alphabeta.engine import Engine

        # Until a file is read, a network that counts material: an engine without one could not answer at all.
        engine = Engine(small_network(), 1)
        engine.use_table(table)
        return engine

    def _apply_options(self, engine: Engine) -> None:
        for name in self.costly:
            wanted = self._options.text(name)
            if self._applied.get(name) == wanted:
                continue
            self._applied[name] = wanted
            try:
                self._apply_option(engine, name, wanted)
            except MemoryError as error:
                kept = f"; going on with {engine.table.megabytes} MB" if name == "USI_Hash" else ""
                self._say(f"{error or f'{name} {wanted} does not fit into memory'}{kept}")
        if self._options.number("Mate_Root_Search") and self._root_mate is None:
            from search.mate.root import RootMate

            self._root_mate = RootMate()
        self._apply_book()
        self._apply_rules(engine)

    def _apply_option(self, engine: Engine, name: str, value: str) -> None:
        """Put a costly option's value in force. MemoryError if it does not fit."""
        if name == "USI_Hash":
            engine.set_hash(int(value))
            self._backing = back_table(engine.table)
        elif name == "Threads":
            engine.set_threads(int(value))
        else:
            self._load(engine, value)

    def _load(self, engine: Engine, path: str) -> None:
        scale = self._options.number("FV_SCALE")
        try:
            engine.set_network(path, None if scale == DEFAULT_FV_SCALE else scale)
        except (OSError, ValueError, MemoryError) as error:
            kept = self._network or self._fall_back(engine)
            remedy = "Set EvalFile to a net made by `liteshogi fold`, or to default"
            self._say(f"EvalFile: {error}; going on with {kept}. {remedy}")
            return
        self._network = path
        net = engine.network
        self._say(f"EvalFile {path}: {net.feature_set.name}, {net.width} lanes, {net.perspectives} perspective(s)")

    def _fall_back(self, engine: Engine) -> str:
        """No network has been read yet: the one that is shipped; its name in words."""
        try:
            engine.set_network("default")
        except (OSError, ValueError, MemoryError):
            return "material alone"
        self._network = "default"
        return "the default net"

    def _apply_book(self) -> None:
        name = self._options.text("BookFile")
        path = None if name == NO_BOOK else Path(self._options.text("BookDir"), name)
        if path == self._book_path:
            return
        self._book, self._book_path = None, path
        if path is None:
            return
        from search.usi.book import Book

        try:
            self._book = Book(path)
        except (OSError, ValueError, MemoryError) as error:
            self._say(f"BookFile: {error}; going on without a book")

    def _apply_rules(self, engine: Engine) -> None:
        from search.alphabeta.engine import Rules
        from search.alphabeta.parameters import make_parameters
        from search.rules.declaration import NO_RULE, RULE_24, RULE_24_HANDICAP, RULE_27, RULE_27_HANDICAP, TRY_RULE
        from search.score import score_of_rate

        # Draw_Value_Black is what a draw is worth while the engine plays black; the opponent gets the rest.
        colour = int(engine.position["turn"])
        rate = self._options.number("Draw_Value_White" if colour else "Draw_Value_Black") / 1000
        draw = score_of_rate(rate, engine.network.cp_per_logit)
        engine.multi_pv = self._options.number("MultiPV")
        changes = self._options.parameters()
        if changes != self._parameters:  # their table takes milliseconds, as long as a short search
            engine.parameters, self._parameters = make_parameters(changes), changes
        numbers = (NO_RULE, RULE_24, RULE_24_HANDICAP, RULE_27, RULE_27_HANDICAP, TRY_RULE)
        engine.rules = Rules(
            declaration=numbers[ENTERING_KING_RULES.index(self._options.text("EnteringKingRule"))],
            max_moves=self._options.number("MaxMovesToDraw"),
            draw_value=(-draw, draw) if colour else (draw, -draw),
        )

    def _setoption(self, rest: str) -> None:
        match = re.fullmatch(r"name\s+(\S+)(?:\s+value(?:\s+(.*))?)?", rest.strip(), re.DOTALL)
        if not match:
            raise ValueError("setoption needs: setoption name NAME value VALUE")
        name = self._options.set(match[1], (match[2] or "").strip())
        if name in ("EvalFile", "FV_SCALE"):
            self._applied.pop("EvalFile", None)  # the same path may hold another file by now
        elif name in ("BookFile", "BookDir"):
            self._book = self._book_path = None
        # A search goes on as it began; the next command that needs the engine applies what has changed.
        if self._engine is not None and not self._thinking():
            self._ready_engine()

    # Playing

    def _usinewgame(self, _: str) -> None:
        self._stop()
        self._ready_engine().new_game()

    def _set_position(self, rest: str) -> None:
        start, _, tail = rest.partition("moves")
        self._stop()
        self._ready_engine().set_position(start.strip().removeprefix("sfen ").strip(), tail.split())

    def _go(self, rest: str) -> None:
        begun = time.perf_counter()
        limits, complaints = parse_go(rest)
        for complaint in complaints:
            self._say(complaint)
        self._stop()
        try:
            engine = self._ready_engine()
            if limits.mate is not None:
                self._go_mate(engine, limits.mate)
                return
        except Exception as error:  # who says `go` waits for a move
            self._say(str(error) or type(error).__name__)
            self._write("bestmove resign" if limits.mate is None else "checkmate timeout")
            return
        self._limits, self._go_time = limits, begun
        self._release = threading.Event()
        endless = limits.ponder or limits.infinite
        if not endless:
            self._release.set()
        self._interrupt = engine.stop
        grow_table(engine.table)
        engine.ready(None if endless else self._budget(engine, limits), begun)
        self._search = threading.Thread(target=self._think, args=(engine, limits, self._release), daemon=True)
        self._search.start()

    def _go_mate(self, engine: Engine, milliseconds: int) -> None:
        from search.mate.solver import MateSolver, StopFlag

        self._solver = self._solver or MateSolver()
        stop = StopFlag()
        self._limits, self._interrupt = Limits(), stop.set
        limit = None if milliseconds < 0 else max(1, milliseconds - OWN_DELAY)
        self._search = threading.Thread(
            target=self._solve, args=(self._solver, engine.position.copy(), limit, stop), daemon=True
        )
        self._search.start()

    def _solve(self, solver: MateSolver, position: np.void, limit: int | None, stop: StopFlag) -> None:
        """A search for mate from `go mate` to `checkmate`."""
        from search.mate.solver import MateStatus

        answer = "timeout"
        try:
            found = solver.solve(position, milliseconds=limit, stop=stop)
            if found.status is MateStatus.MATE:
                answer = " ".join(found.moves)
            elif found.status is MateStatus.NO_MATE:
                answer = "nomate"
            milliseconds = int(found.seconds * 1000)
            rate = int(found.nodes / max(found.seconds, 0.001))
            self._write(f"info nodes {found.nodes} nps {rate} time {milliseconds}")
        except ValueError as error:  # there is no king to mate
            self._say(str(error))
            answer = "nomate"
        except Exception as error:
            self._say(f"the search for mate failed: {type(error).__name__}: {error}")
        self._write(f"checkmate {answer}")

    def _budget(self, engine: Engine, limits: Limits) -> Budget | None:
        number = self._options.number
        margins = Margins(number("NetworkDelay"), number("NetworkDelay2"), number("MinimumThinkingTime"))
        return plan(limits, int(engine.position["turn"]), int(engine.position["game_ply"]), margins)

    def _think(self, engine: Engine, limits: Limits, release: threading.Event) -> None:
        """A search from `go` to `bestmove`; nothing is allowed to keep the answer from being sent."""
        best = None
        try:
            if not limits.infinite and not limits.searchmoves:
                best = self._book_move(engine)
            if best is None:
                best = self._search_move(engine, limits)
        except Exception as error:
            self._say(f"the search failed: {type(error).__name__}: {error}")
        # A pondering or infinite search that has ended by itself keeps its move until it is asked for.
        release.wait()
        self._write(self._bestmove(best))

    def _search_move(self, engine: Engine, limits: Limits) -> Analysis:
        """The search's move, or that of a mate which the solver proves meanwhile (Mate_Root_Search, nodes)."""
        nodes, solver = self._options.number("Mate_Root_Search"), self._root_mate
        beside = solver is not None and nodes > 0 and not limits.searchmoves and engine.multi_pv == 1
        if solver is not None and beside:
            solver.begin(engine.position, nodes, engine.stop)
        try:
            best = engine.search(
                nodes=self._limited(limits.nodes, "NodesLimit"),
                depth=self._limited(limits.depth, "DepthLimit"),
                searchmoves=limits.searchmoves,
                on_info=self._info,
            )
        finally:
            mate = solver.end() if solver is not None and beside else None
        if mate is None or best.best_move in (None, "win"):
            return best
        from search.mate.root import with_mate

        best = with_mate(best, mate)
        self._info(best)
        return best

    def _limited(self, asked: int | None, name: str) -> int | None:
        """The smaller of what `go` asked for and what an option allows every search, whose 0 is no limit."""
        allowed = self._options.number(name) or None
        return min(filter(None, (asked, allowed)), default=None)

    def _book_move(self, engine: Engine) -> Analysis | None:
        """The book's move for the position that was set, its candidates told as lines; None if it has none."""
        if self._book is None or not self._options.flag("USI_OwnBook"):
            return None
        from search.usi.book_choice import BookRules, choose

        try:
            found = choose(self._book, engine.position, BookRules.from_options(self._options), self._say)
        except (OSError, ValueError) as error:
            self._say(f"BookFile: {error}; thinking for itself")
            return None
        if found is None:
            return None
        engine.limit(None)
        for line in found.lines:
            self._write(f"info {line}")
        return found.analysis

    def _bestmove(self, best: Analysis | None) -> str:
        if best is None or best.best_move is None:
            return "bestmove resign"
        if best.best_move == "win":
            return "bestmove win"
        if best.depth and best.score <= -self._options.number("ResignValue"):
            return "bestmove resign"
        ponder = self._options.flag("USI_Ponder") and best.ponder_move
        return f"bestmove {best.best_move}" + (f" ponder {best.ponder_move}" if ponder else "")

    def _info(self, found: Analysis) -> None:
        multi = f" multipv {found.rank}" if self._engine is not None and self._engine.multi_pv > 1 else ""
        chances = ""
        if self._options.flag("UCI_ShowWDL"):
            chances = " wdl {} {} {}".format(*self._chances(found))
        self._write(
            f"info depth {found.depth} seldepth {found.seldepth}{multi} score {found.score_text}{chances} "
            f"nodes {found.nodes} nps {found.nps} hashfull {found.hashfull} time {found.milliseconds} "
            f"pv {' '.join(found.pv)}"
        )

    def _chances(self, found: Analysis) -> tuple[int, int, int]:
        """Thousandths of wins, draws and losses, as chess engines tell them: the network knows no draws."""
        wins = round(1000 * found.win_rate)
        return wins, 0, 1000 - wins

    def _ponderhit(self, rest: str) -> None:
        """The opponent played the expected move: the clocks run from here."""
        engine = self._engine
        if engine is None or not self._thinking() or not self._limits.ponder or self._release.is_set():
            return
        now = time.perf_counter()
        clocks, complaints = parse_go(rest)
        for complaint in complaints:
            self._say(complaint)
        # The clocks of an early `go ponder` come with the `ponderhit`.
        limits = replace(clocks if clocks.timed else self._limits, ponder=False)
        budget = self._budget(engine, limits)
        if budget is not None:
            engine.limit(after_pondering(budget, int((now - self._go_time) * 1000)), now)
        if not limits.infinite:
            self._release.set()

    def _thinking(self) -> bool:
        return self._search is not None and self._search.is_alive()

    def _stop(self) -> None:
        """End the search, if there is one, and wait until it has said its move."""
        if self._search is not None:
            self._interrupt()
            self._release.set()
            self._search.join()
            self._search = None


def _import_engine() -> None:
    with contextlib.suppress(Exception):  # `isready` imports again and says what is wrong
        import search.alphabeta.engine  # noqa: F401
