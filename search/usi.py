"""The USI protocol: lines in, lines out, and the engine in between.

`usi` is answered before anything that compiles is imported, which takes a second; a thread imports it meanwhile. The
main thread reads lines and never waits for a search: each `go` runs in a thread of its own. Whatever cannot be read or
done is answered by an `info string` in words, and the engine lives on.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from search.clock import Limits, Margins, plan
from search.options import OPTIONS, OptionValues

if TYPE_CHECKING:
    from search.engine import Analysis, Engine

NAME = "LiteShogi"
AUTHOR = "the LiteShogi authors"
KEEP_ALIVE_SECONDS = 5.0
"""A GUI that waits for `readyok` gets an empty line this often."""
MAX_LINE = 1 << 20
_RULE_NUMBERS = {"NoEnteringKing": 0, "CSARule24": 1, "CSARule27": 2, "TryRule": 3}
_TIMES = ("btime", "wtime", "byoyomi", "binc", "winc", "movetime", "nodes", "depth")


class Protocol:
    """One session: `handle` takes a line and returns False at `quit`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._options = OptionValues()
        self._engine: Engine | None = None
        self._network = ""
        self._position = ("startpos", [])  # type: tuple[str, list[str]]
        self._search: threading.Thread | None = None
        self._release = threading.Event()
        self._limits = Limits()
        self._go_time = 0.0
        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
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
        words = line.strip().split(maxsplit=1)
        if not words:
            return True
        if len(line) > MAX_LINE:
            self._say(f"a line of {len(line)} characters is too long, it was not read")
            return True
        name, rest = words[0], words[1] if len(words) > 1 else ""
        if name == "quit":
            self._stop()
            return False
        command = self._commands.get(name)
        if command is None:
            shown = name[:40].encode("ascii", "replace").decode()
            self._say(f"unknown command {shown!r}; known are {' '.join(self._commands)} quit")
            return True
        try:
            command(rest)
        except (ValueError, OSError, MemoryError) as error:
            self._say(str(error))
        return True

    def close(self) -> None:
        """The other side is gone: end the search without waiting."""
        if self._engine is not None:
            self._engine.stop()
        self._release.set()

    def _say(self, text: str) -> None:
        self._write("info string " + " ".join(text.split()))

    def _usi(self, _: str) -> None:
        self._write(f"id name {NAME}")
        self._write(f"id author {AUTHOR}")
        for option in OPTIONS:
            self._write(option.declaration())
        self._write("usiok")
        # Numba takes half a second to import: begin while the GUI sends its options.
        threading.Thread(target=_import_engine, daemon=True).start()

    def _isready(self, _: str) -> None:
        done = threading.Event()
        keeper = threading.Thread(target=self._keep_alive, args=(done,), daemon=True)
        keeper.start()
        try:
            self._ready_engine()
        except (ValueError, OSError, MemoryError) as error:
            self._say(str(error))
        finally:
            done.set()
            keeper.join()
        self._write("readyok")

    def _keep_alive(self, done: threading.Event) -> None:
        while not done.wait(KEEP_ALIVE_SECONDS):
            self._write("")

    def _ready_engine(self) -> Engine:
        """The engine, made at the first call: compiled, its table reserved, its network loaded."""
        if self._engine is None:
            from search.engine import Engine
            from search.warmup import small_network, warm_up

            warm_up()
            # Until a file is read, a network that counts material: an engine without one could not answer at all.
            self._engine = Engine(small_network(), 1, 1)
            self._apply("USI_Hash")
            self._apply("Threads")
            self._network = ""
        wanted = self._options.text("EvalFile")
        if wanted != self._network:
            self._load(wanted)
        self._apply_rules()
        return self._engine

    def _load(self, path: str) -> None:
        assert self._engine is not None
        try:
            self._engine.set_network(path)
        except (OSError, ValueError) as error:
            kept = f"going on with {self._network}" if self._network else "going on with material alone"
            self._say(f"EvalFile: {error}; {kept}. Set EvalFile to a net made by `liteshogi fold`, or to default")
            return
        self._network = path

    def _setoption(self, rest: str) -> None:
        match = re.fullmatch(r"name\s+(\S+)(?:\s+value(?:\s+(.*))?)?", rest.strip(), re.DOTALL)
        if not match:
            raise ValueError("setoption needs: setoption name NAME value VALUE")
        name = self._options.set(match[1], (match[2] or "").strip())
        if self._engine is not None:
            self._wait()
            if name == "EvalFile":
                self._load(self._options.text(name))
            elif name in ("USI_Hash", "Threads"):
                self._apply(name)
            else:
                self._apply_rules()

    def _apply(self, name: str) -> None:
        assert self._engine is not None
        if name == "USI_Hash":
            self._engine.set_hash(self._options.number(name))
        else:
            self._engine.set_threads(self._options.number(name))

    def _apply_rules(self) -> None:
        from search.engine import Rules
        from search.score import score_of_rate

        assert self._engine is not None
        scale = self._engine.network.cp_per_logit
        self._engine.multi_pv = self._options.number("MultiPV")
        self._engine.rules = Rules(
            declaration=_RULE_NUMBERS[self._options.text("EnteringKingRule")],
            max_moves=self._options.number("MaxMovesToDraw"),
            # Draw_Value_Black is what a draw is worth while the engine plays black; the opponent gets the rest.
            draw_value=(0, 0),
        )
        self._draw_scores = tuple(
            score_of_rate(self._options.number(f"Draw_Value_{colour}") / 1000, scale) for colour in ("Black", "White")
        )

    def _usinewgame(self, _: str) -> None:
        self._wait()
        self._ready_engine().new_game()

    def _set_position(self, rest: str) -> None:
        start, _, tail = rest.partition("moves")
        sfen = start.strip().removeprefix("sfen ").strip()
        moves = tail.split()
        self._wait()
        self._ready_engine().set_position(sfen, moves)
        self._position = (sfen, moves)

    def _go(self, rest: str) -> None:
        begun = time.perf_counter()
        limits = parse_go(rest)
        self._wait()
        engine = self._ready_engine()
        if limits.mate is not None:
            self._write("checkmate notimplemented")
            return
        if engine.position["king"].max() == 0:
            engine.set_position(*self._position)
        colour = int(engine.position["turn"])
        draw = self._draw_scores[colour]
        engine.rules = replace(engine.rules, draw_value=(draw, -draw) if colour == 0 else (-draw, draw))
        self._limits, self._go_time = limits, begun
        self._release = threading.Event()
        if not (limits.ponder or limits.infinite):
            self._release.set()
        engine.ready()
        self._search = threading.Thread(target=self._think, args=(engine, limits, begun), daemon=True)
        self._search.start()

    def _think(self, engine: Engine, limits: Limits, begun: float) -> None:
        """A search from `go` to `bestmove`; nothing is allowed to keep the answer from being sent."""
        best = None
        try:
            timed = not (limits.ponder or limits.infinite)
            budget = plan(limits, int(engine.position["turn"]), int(engine.position["game_ply"]), self._margins())
            best = engine.search(
                nodes=limits.nodes,
                depth=limits.depth,
                budget=budget if timed else None,
                searchmoves=limits.searchmoves,
                on_info=self._info,
                start=begun,
            )
        except Exception as error:  # the GUI waits for a move whatever happened
            self._say(f"the search failed: {type(error).__name__}: {error}")
        # A pondering or infinite search that has ended by itself keeps its move until it is asked for.
        self._release.wait()
        self._write(self._bestmove(best))

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
        multi = f" multipv {found.rank}" if self._options.number("MultiPV") > 1 else ""
        self._write(
            f"info depth {found.depth} seldepth {found.seldepth}{multi} score {found.score_text} nodes {found.nodes} "
            f"nps {found.nps} hashfull {found.hashfull} time {found.milliseconds} pv {' '.join(found.pv)}"
        )

    def _margins(self) -> Margins:
        number = self._options.number
        return Margins(number("NetworkDelay"), number("NetworkDelay2"), number("MinimumThinkingTime"))

    def _ponderhit(self, rest: str) -> None:
        """The opponent played the expected move: the clocks run from here."""
        engine = self._engine
        if engine is None or self._search is None or not self._limits.ponder or self._release.is_set():
            return
        now = time.perf_counter()
        clocks = parse_go(rest)
        limits = replace(self._limits, ponder=False)
        if clocks.timed:
            limits = replace(clocks, ponder=False)
        self._limits = limits
        budget = plan(limits, int(engine.position["turn"]), int(engine.position["game_ply"]), self._margins())
        self._release.set()
        if budget is None:
            return
        # What was thought on the opponent's time counts: only the rest of the optimum is spent.
        thought = (now - self._go_time) * 1000
        wait = max(1.0, min(budget.maximum, budget.optimum - thought / 2)) / 1000
        timer = threading.Timer(wait, engine.stop)
        timer.daemon = True
        timer.start()

    def _stop(self) -> None:
        if self._engine is not None and self._search is not None:
            self._engine.stop()
        self._release.set()
        self._wait()

    def _wait(self) -> None:
        """No command changes what a search is using: end it first."""
        if self._search is not None:
            if self._search.is_alive() and self._engine is not None:
                self._engine.stop()
                self._release.set()
            self._search.join()
            self._search = None


def parse_go(text: str) -> Limits:
    """Read the words after `go`; ValueError for what is none of them."""
    words = text.split()
    values: dict[str, Any] = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in _TIMES:
            if index == len(words) or not re.fullmatch(r"[+-]?[0-9]{1,18}", words[index]):
                raise ValueError(f"go {word} needs a whole number")
            # A clock that has run below zero is a clock without time.
            values[word] = max(0, int(words[index]))
            index += 1
        elif word == "mate":
            limit = words[index] if index < len(words) else "infinite"
            values["mate"] = int(limit) if re.fullmatch(r"[0-9]{1,18}", limit) else -1
            index += 1
        elif word in ("ponder", "infinite"):
            values[word] = True
        elif word == "searchmoves":
            values["searchmoves"] = tuple(words[index:])
            break
        elif word in ("rtime", "movestogo"):
            index += 1
        else:
            raise ValueError(f"go: {word[:40]!r} is no limit that is known here")
    if values.get("depth") == 0:
        values["depth"] = 1
    return Limits(**values)


def _import_engine() -> None:
    with contextlib.suppress(Exception):  # `isready` imports again and says what is wrong
        import search.engine  # noqa: F401


class _Output:
    """Whole lines to a stream from several threads; a closed pipe ends the process."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (BrokenPipeError, ValueError, OSError):
                os._exit(0)  # nobody listens; threads may be deep in compiled code


def speak(lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Hold a session over lines of text."""
    protocol = Protocol(write)
    for line in lines:
        if not protocol.handle(line):
            break
    protocol.close()


def main() -> None:
    """Speak USI on standard input and output until `quit`, the end of input, or a signal."""
    for stream in (sys.stdin, sys.stdout):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:  # Windows with a Japanese locale would use cp932
            reconfigure(encoding="utf-8", errors="replace", newline="\n" if stream is sys.stdout else None)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: os._exit(0))
    speak(sys.stdin, _Output(sys.stdout))
    sys.stdout.flush()
    os._exit(0)  # daemon threads may be deep in compiled code: do not wait for them
