"""The USI session: lines in, lines out, and an engine behind an adapter.

`usi` is answered before anything that compiles is imported, which takes a second; a thread imports it meanwhile. One
thread reads lines, another obeys them, and `go` and `isready` run in threads of their own. So `stop` works while a
search runs, and `quit` and the end of input at any time. Errors are reported as `info string`; the engine continues. If
something besides the search fails, that is reported once and the search plays on. The engine resigns only in a lost
position or after a `position` that it refused.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from search.clock import Budget, Margins, after_pondering, plan
from search.compiling.progress import PROGRESS
from search.rules.declaration_names import DeclarationRule
from search.system.files import message_of
from search.system.threads import started
from search.usi.adapter import Adapter
from search.usi.alphabeta import AlphaBetaAdapter
from search.usi.book_options import OPTIONS as BOOK_OPTIONS
from search.usi.book_options import read_profile
from search.usi.go import Go, parse_go, shown
from search.usi.streams import FAREWELL_SECONDS, MAX_LINE, SCRIPT_SECONDS, info_string
from search.usi.thinking import Thinking
from search.usi.usi_options import SESSION_OPTIONS, OptionValues

if TYPE_CHECKING:
    from search.engine import Engine

AUTHOR = "the LiteShogi authors"
KEEP_ALIVE_SECONDS = 5.0
"""Seconds between two lines to a GUI that waits for `readyok`."""
LOOK_SECONDS = 0.5
"""Seconds between two checks whether compiling has begun."""
LAST_WORD_SECONDS = 0.5
"""Seconds that the end of input waits for a search to write its move."""
BACKING_SECONDS = 1.0
"""Most seconds from `isready` that the answer waits for the engine's memory."""


class _UnavailableError(Exception):
    """The engine cannot be made, and the reason has been reported."""


class Session:
    """One session: `handle` takes a line and returns False at `quit`."""

    def __init__(
        self,
        write: Callable[[str], None],
        adapter: Adapter | None = None,
        give_up: Callable[[], None] = lambda: None,
    ) -> None:
        """`adapter` provides the engine, by default alpha-beta.

        `give_up` is called if the engine cannot play when the GUI asks whether it is ready. The last line written then
        is the reason: GUIs show the last line of a process that ends.
        """
        self._begun = time.monotonic()
        self._write = write
        self._give_up = give_up
        self._adapter: Adapter[Any] = adapter or AlphaBetaAdapter()
        own = {option.name for option in self._adapter.options}
        shared = tuple(option for option in SESSION_OPTIONS if option.name not in own)
        self._profile = read_profile()
        self._options = OptionValues(self._adapter.options + shared + BOOK_OPTIONS[self._profile.version])
        self._engine: Engine | None = None
        self._applied: tuple[int, int] | None = None
        """Number of options set, and the side to move, when options and rules were last applied without an error."""
        self._said: set[str] = set()
        self._refused = ""
        self._readying: threading.Thread | None = None
        self._compiling_reported = False
        self._importing: threading.Thread | None = None
        self._thinking = Thinking(self._options, self._adapter, self._write, self.say, self._say_once)
        self._go_said, self._go_time = Go(), 0.0
        self._first_ply: int | None = None  # ply of the engine's first move of the game
        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
            "usi_tunables": self._usi_tunables,
            "setoption": self._setoption,
            "usinewgame": self._usinewgame,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._thinking.end(),
            "ponderhit": self._ponderhit,
            "gameover": self._gameover,
            "d": self._draw,
            "side": self._side,
            "moves": self._moves,
            "eval": self._evaluate,
            "bench": self._bench,
        }

    def handle(self, line: str) -> bool:
        """Answer one line; return False when the session ends."""
        if len(line) > MAX_LINE:
            self.say(f"line of more than {MAX_LINE} characters: ignored")
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
            self.say(f"unknown command {shown(name)}; commands: {' '.join(self._commands)} quit")
            return True
        try:
            command(rest)
        except _UnavailableError:
            pass  # reported where it was raised
        except (ValueError, OSError, MemoryError, ImportError) as error:
            self.say(message_of(error))
        except Exception as error:  # a defect of this program; finishing the game matters more than a traceback
            self.say(f"{name} failed: {type(error).__name__}: {error}")
        return True

    def finish(self, deadline: float) -> None:
        """At the end of input, let a search with a limit finish, if its clock does not run beyond `deadline`
        (`time.monotonic()`)."""
        seconds = deadline - LAST_WORD_SECONDS - time.monotonic()
        budget, elapsed = (None, 0) if self._engine is None else self._engine.clock.read()
        if budget is None or budget.maximum - elapsed < 1000 * seconds:
            self._thinking.wait(seconds)

    def close(self) -> None:
        """End the session: wait for preparations to finish and for a search to write its move."""
        if self._readying is not None:
            self._readying.join(max(FAREWELL_SECONDS, self._begun + SCRIPT_SECONDS - time.monotonic()))
        self._thinking.end(LAST_WORD_SECONDS)

    def say(self, text: str) -> None:
        """Write a message to the user as one `info string` line."""
        self._write(info_string(text))

    def _say_once(self, text: str) -> None:
        """Report a message that would be repeated at every move only once."""
        if text not in self._said:
            self._said.add(text)
            self.say(text)

    # Getting ready

    def _usi(self, _: str) -> None:
        self._write(f"id name {self._adapter.name}")
        self._write(f"id author {AUTHOR}")
        for option in self._options.declared:
            self._write(option.declaration())
        self._write("usiok")
        if self._profile.message:
            self.say(self._profile.message)
        # Importing Numba takes half a second: begin while the GUI sends its options.
        self._importing = started(threading.Thread(target=_import_engine))

    def _usi_tunables(self, _: str) -> None:
        """Answer ShogiArena's request for tunable options; the declared options are complete."""
        self._write("usi_tunablesok")

    def _isready(self, _: str) -> None:
        self._begin(self._get_ready)

    def _begin(self, work: Callable[[], None]) -> None:
        """Run work that the next line waits for but `quit` does not."""
        self._readying = started(threading.Thread(target=work))
        if self._readying is None:
            work()

    def _get_ready(self) -> None:
        begun = time.monotonic()
        done = threading.Event()
        keeper = started(threading.Thread(target=self._keep_alive, args=(done,)))
        try:
            self._adapter.try_again()
            self._thinking.try_again()
            self._applied = None
            self._said.clear()
            self._ready_engine(reporting=False)
            # A search keeps its options, so refusals may be out of date while it runs.
            is_searching = self._thinking.running()
            error = "" if is_searching else next((one.error for one in self._adapter.refusals.values()), "")
            backing = self._adapter.backing()
            if backing is not None and not error:
                backing.wait(max(0.0, begun + BACKING_SECONDS - time.monotonic()))
        except Exception as failure:
            error = _message(failure)
        finally:
            done.set()
            if keeper is not None:
                keeper.join()
        if error:
            self.say(f"Error! {error}")
            self._give_up()
        else:
            self._write("readyok")

    def _keep_alive(self, done: threading.Event) -> None:
        """Write something every few seconds: how far compiling has come, or an empty line."""
        last = time.monotonic()
        while not done.wait(min(LOOK_SECONDS, KEEP_ALIVE_SECONDS)):
            state, passed = PROGRESS.state(), time.monotonic() - last
            if passed < KEEP_ALIVE_SECONDS and (state is None or self._compiling_reported):
                continue
            last = time.monotonic()
            self._compiling_reported = state is not None
            if state is None:
                self._write("")
            else:
                self.say(state)

    def _ready_engine(self, reporting: bool = True) -> Engine:
        """Return the engine with the current options, made at the first call.

        Problems are reported, except those of `Adapter.refusals` and of making the engine if `reporting` is False.
        Raises _UnavailableError if the engine cannot be made, or the error itself if `reporting` is False.
        """
        if self._engine is None:
            if self._importing is not None:  # a second import beside a failing one reports another error
                self._importing.join()
            try:
                self._engine = self._adapter.make(self._options, self.say)
            except Exception as error:
                if not reporting:
                    raise
                self._say_once(_message(error))
                raise _UnavailableError(_message(error)) from error
        if not self._thinking.running():
            self._apply(self._engine)
            for refusal in self._adapter.refusals.values():
                if reporting and not refusal.reported:
                    refusal.reported = True
                    self.say(refusal.warning)
        return self._engine

    def _positioned_engine(self) -> Engine:
        """Return the engine if it has the GUI's position. Raises ValueError if the last position was refused."""
        engine = self._ready_engine()
        if self._refused:
            raise ValueError(f"no position: the last one was refused ({self._refused}); send a legal one")
        return engine

    def _apply(self, engine: Engine) -> None:
        """Apply options and rules if one may have changed: a search of 100 nodes takes no longer than applying them."""
        state = (self._options.settings, int(engine.position["turn"]))
        if state == self._applied:
            return
        self._applied = state
        for what, apply in (("the options", self._apply_options), ("the rules", self._apply_rules)):
            try:
                apply(engine)
            except Exception as error:  # the engine plays on with the previous settings
                self._applied = None
                self._say_once(f"{what}: {_message(error)}; keeping the previous ones")

    def _apply_options(self, engine: Engine) -> None:
        self._adapter.apply(engine, self._options, self.say)
        self._thinking.prepare()

    def _apply_rules(self, engine: Engine) -> None:
        from search.engine import Rules
        from search.rules.declaration import RULES
        from search.score import draw_value

        # Draw_Value_Black is the value of a draw while the engine plays black; the opponent gets the rest.
        colour = int(engine.position["turn"])
        rate = self._options.number("Draw_Value_White" if colour else "Draw_Value_Black") / 1000
        engine.multipv = self._options.number("MultiPV")
        engine.rules = Rules(
            declaration=RULES[cast(DeclarationRule, self._options.text("EnteringKingRule"))],
            max_moves=self._options.number("MaxMovesToDraw"),
            draw_value=draw_value(rate, colour, engine.cp_per_logit),
        )

    def _setoption(self, rest: str) -> None:
        named = re.fullmatch(r"name\s+(\S.*)", rest.strip(), re.DOTALL)
        if not named:
            raise ValueError("setoption: expected `setoption name NAME value VALUE`")
        # Other engines have names with spaces, such as `Skill Level`.
        name, *value = re.split(r"\svalue(?:\s|\Z)", named[1], maxsplit=1)
        name = self._options.set(name.strip(), "".join(value).strip())
        self._adapter.option_set(name)
        self._thinking.option_set(name)
        # A running search keeps its options; the next command that needs the engine applies the changes.
        if self._engine is not None and not self._thinking.running():
            self._ready_engine()

    # Playing

    def _usinewgame(self, _: str) -> None:
        self._thinking.end()
        self._first_ply = None
        self._ready_engine().new_game()

    def _gameover(self, _: str) -> None:
        """Clear the engine's memory while no clock runs: a table of gigabytes takes as long as a move of a fast game,
        and `usinewgame` is followed by `go`."""
        self._thinking.end()
        if self._engine is not None:
            self._begin(self._engine.new_game)

    def _set_position(self, rest: str) -> None:
        self._thinking.end()
        try:
            self._ready_engine().set_position(rest)
        except Exception as error:
            # The GUI's board differs from ours: a move for the old position would be illegal there.
            self._refused = _message(error)
            raise
        self._refused = ""

    def _go(self, rest: str) -> None:
        begun = time.perf_counter()
        said, messages = parse_go(rest)
        for message in messages:
            self.say(message)
        self._thinking.end()
        engine = None
        try:
            engine = self._positioned_engine()
        except _UnavailableError:
            pass  # reported where it was raised
        except Exception as error:  # a GUI that sends `go` waits for a move
            self.say(_message(error))
        self._go_said, self._go_time = said, begun
        if said.mate is not None:
            self._thinking.solve(engine, said.mate, said.nodes)
            return
        if engine is not None:
            self._report_illegal(said.searchmoves, engine)
            endless = said.ponder or said.infinite
            engine.ready(None if endless else self._budget(engine, said), begun)
        self._thinking.begin(engine, said)

    def _report_illegal(self, wanted: Sequence[str], engine: Engine) -> None:
        """Report moves of `searchmoves` that the position does not have, which the search leaves out."""
        if not wanted:
            return
        from search.rules.movegen import list_moves
        from search.rules.sfen import move_to_usi

        legal = set(map(move_to_usi, list_moves(engine.position)))
        if illegal := [move for move in wanted if move not in legal]:
            rest = "ignored" if len(illegal) < len(wanted) else "ignored, and all moves are searched"
            self.say(f"go searchmoves: not legal in this position: {' '.join(illegal)}; {rest}")

    def _budget(self, engine: Engine, said: Go) -> Budget | None:
        if said.infinite:
            return None
        number = self._options.number
        margins = Margins(
            number("NetworkDelay"),
            number("NetworkDelay2"),
            number("MinimumThinkingTime"),
            self._thinking.punctuality.own_delay,
        )
        ply = int(engine.position["game_ply"])
        if self._first_ply is None or ply < self._first_ply:
            self._first_ply = ply
        return plan(said.clocks, int(engine.position["turn"]), ply, margins, ply == self._first_ply)

    def _ponderhit(self, rest: str) -> None:
        """Start the clocks: the opponent has played the expected move."""
        engine = self._engine
        if not self._go_said.ponder or not self._thinking.held():
            return
        if engine is None:  # nothing searches, but the GUI waits for an answer
            self._thinking.release()
            return
        now = time.perf_counter()
        late, messages = parse_go(rest, late=True)
        for message in messages:
            self.say(message)
        # The clocks of an early `go ponder` come with `ponderhit`.
        said = late if late.clocks.running else replace(self._go_said, ponder=False)
        budget = self._budget(engine, said)
        if budget is not None:
            engine.limit(after_pondering(budget, int((now - self._go_time) * 1000)), now)
        if not said.infinite:
            self._thinking.release()

    # Commands that users of YaneuraOu type

    def _draw(self, _: str) -> None:
        from search.rules.diagram import draw

        for line in draw(self._positioned_engine().position).splitlines():
            self._write(line)

    def _side(self, _: str) -> None:
        """Answer Ayane's question which side is to move."""
        self._write("white" if self._positioned_engine().position["turn"] else "black")

    def _moves(self, _: str) -> None:
        from search.rules.movegen import list_moves
        from search.rules.sfen import move_to_usi

        self._write(" ".join(map(move_to_usi, list_moves(self._positioned_engine().position))))

    def _evaluate(self, _: str) -> None:
        self._thinking.end()
        for line in self._adapter.evaluate(self._positioned_engine()):
            self._write(line)

    def _bench(self, _: str) -> None:
        self._thinking.end()
        for line in self._adapter.bench(self._ready_engine()):
            self._write(line)


def _message(error: Exception) -> str:
    """Return an error's message, with the name of its class if it is a defect."""
    expected = isinstance(error, (ValueError, OSError, MemoryError, ImportError))
    return message_of(error) if expected else f"{type(error).__name__}: {error}"


def _import_engine() -> None:
    with contextlib.suppress(Exception):  # `isready` imports again and reports the error
        import search.engine  # noqa: F401
