"""The alpha-beta engine behind a USI session."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from search.levels import FULL, NAMES
from search.system.bounds import MOST_MEGABYTES, MOST_THREADS
from search.system.files import message_of
from search.system.options import OptionError
from search.usi.adapter import Adapter, Refusal, Say
from search.usi.network_options import NETWORK_OPTIONS, OPTION_OF, network_choice, with_options
from search.usi.usi_options import HIGHEST, Combo, Option, OptionValues, Spin

if TYPE_CHECKING:
    from search.alphabeta.engine import AlphaBetaEngine
    from search.alphabeta.transposition import TranspositionTable

FALLBACK_HASH = 16
"""Megabytes of the table if the requested size does not fit at the start."""
OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", 64, 1, MOST_MEGABYTES),
    Spin("Threads", 1, 1, MOST_THREADS),
    *NETWORK_OPTIONS,
    Combo("Level", FULL, NAMES),
    Spin("LevelSeed", 0, 0, HIGHEST),  # 0: other moves at each start
)


def tunable_options() -> tuple[Option, ...]:
    """Return the search's parameters as options."""
    from search.alphabeta.parameters import PARAMETERS

    return tuple(Spin(one.name, one.default, one.low, one.high) for one in PARAMETERS)


class AlphaBetaAdapter(Adapter["AlphaBetaEngine"]):
    """The alpha-beta engine, with options named as in YaneuraOu."""

    name = "LiteShogi"

    def __init__(self, tunable: bool = False) -> None:
        """`tunable`: declare the search's parameters as options, too, for programs that tune them."""
        super().__init__()
        self._tunable = tunable_options() if tunable else ()
        self.options = OPTIONS + self._tunable
        self._backing: threading.Event | None = None
        self._network = ""
        self._parameters: dict[str, int] = {}

    def make(self, values: OptionValues, say: Say) -> AlphaBetaEngine:
        """Make the engine with its table. Raises whatever compiling raises."""
        # The table comes first: its memory is backed while code is loaded or compiled.
        table = self._first_table(values, say)
        from search.evaluation.material import material_network
        from search.warmup import warm_up

        warm_up()
        from search.alphabeta.engine import AlphaBetaEngine

        # A network that counts material serves until a file is read: an engine without one could not answer at all.
        engine = AlphaBetaEngine(material_network(), 1)
        engine.use_table(table)
        return engine

    def _first_table(self, values: OptionValues, say: Say) -> TranspositionTable:
        from search.alphabeta.transposition import TranspositionTable

        self._changed("USI_Hash", values)
        try:
            table = TranspositionTable(values.number("USI_Hash"))
        except MemoryError as error:
            table = TranspositionTable(FALLBACK_HASH)
            say(f"USI_Hash: {error}; using {FALLBACK_HASH} MB")
        self._back(table)
        return table

    def apply(self, engine: AlphaBetaEngine, values: OptionValues, say: Say) -> None:
        if self._use("USI_Hash", values, engine.set_hash, say):
            self._back(engine.table)
        self._use("Threads", values, engine.set_threads, say)
        changed = [self._changed(option.name, values) for option in NETWORK_OPTIONS]
        if any(changed):
            self._load(engine, values, say)
        changed = [self._changed(name, values) for name in ("Level", "LevelSeed")]
        if any(changed):
            engine.set_level(values.text("Level"), values.number("LevelSeed") or None)
        # A parameter that is set to its default overrides the other default of short searches.
        changes = {one.name: values.number(one.name) for one in self._tunable if values.is_set(one.name)}
        if changes != self._parameters:  # filling the table of parameters takes as long as a short search
            from search.alphabeta.parameters import make_numbers

            engine.numbers, self._parameters = make_numbers(changes), changes

    def _back(self, table: TranspositionTable) -> None:
        from search.alphabeta.paging import back_table

        self._backing = back_table(table)

    def _load(self, engine: AlphaBetaEngine, values: OptionValues, say: Say) -> None:
        path = values.text("EvalFile")
        try:
            self._set_network(engine, values, say)
        except (OSError, ValueError, MemoryError) as error:
            place = "" if os.path.isabs(path) else f" (the current folder is {os.getcwd()})"
            kept = self._network or self._fall_back(engine)
            text, remedy = message_of(error), "Set EvalFile to a network file, or to default"
            if isinstance(error, OptionError):
                text = with_options(error)
                remedy = f"Set {' or '.join(OPTION_OF[field] for field in error.fields)} or another EvalFile"
            self.refusals["EvalFile"] = Refusal(f"EvalFile: {text}{place}", kept, remedy)
            return
        self.refusals.pop("EvalFile", None)
        self._network = path
        network = engine.network
        kind = f"{network.feature_set.name}, {network.width} lanes, {network.perspectives} perspective(s)"
        say(f"EvalFile {path}: {kind}")

    def _set_network(self, engine: AlphaBetaEngine, values: OptionValues, say: Say) -> None:
        from search.evaluation.network_file import UnusedSetting

        try:
            engine.set_network(*network_choice(values))
        except UnusedSetting as error:  # options of the last network may remain set
            engine.set_network(values.text("EvalFile"))
            say(f"{with_options(error)}; ignored. To change a scale, import the nn.bin with another one")

    def _fall_back(self, engine: AlphaBetaEngine) -> str:
        """Load the default network if no network has been read yet; return the name of the network in use."""
        try:
            engine.set_network("default")
        except (OSError, ValueError, MemoryError):
            return "material values only"
        self._network = "default"
        return "the default network"

    def backing(self) -> threading.Event | None:
        return self._backing

    def evaluate(self, engine: AlphaBetaEngine) -> list[str]:
        from search.evaluation.leave_one_out import contributions, draw_contributions
        from search.evaluation.static_evaluation import evaluate_sfens
        from search.rules.sfen import get_sfen

        found = evaluate_sfens(engine.network, [get_sfen(engine.position)])[0]
        left, worth = contributions(engine.network, engine.position)
        draw = "" if found.draw is None else f", draw {100 * found.draw:.1f} %"
        return [
            f"eval = {found.score_cp}",
            f"win rate of the side to move {100 * found.win_rate:.1f} %{draw}",
            "contribution of each piece for black, cp:",
            *draw_contributions(engine.position, left.men, worth),
        ]

    def bench(self, engine: AlphaBetaEngine) -> list[str]:
        from search.alphabeta.bench import signature

        found = signature()
        return [f"signature {found.signature}  {found.nps:,} nodes/s (default network, one thread, CPU time)"]
