"""The alpha-beta engine behind a USI session."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from search.system.bounds import MOST_MEGABYTES, MOST_THREADS
from search.system.options import OptionError
from search.usi.adapter import Adapter, Say
from search.usi.options import FileName, Option, OptionValues, Spin

if TYPE_CHECKING:
    from search.alphabeta.engine import AlphaBetaEngine
    from search.alphabeta.transposition import TranspositionTable

DEFAULT_FV_SCALE = 16
"""YaneuraOu's. As long as the option stands at it, an nn.bin that names another keeps its own."""
NO_ARCHITECTURE = "auto"
"""An nn.bin says itself which architecture it holds; else YaneuraOu's name, as SFNN_halfka2_1024_7_64_k3k3."""
FALLBACK_HASH = 16
"""Megabytes of the table when the one asked for does not fit at the start."""
OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", 64, 1, MOST_MEGABYTES),
    Spin("Threads", 1, 1, MOST_THREADS),
    FileName("EvalFile", "default"),
    Spin("FV_SCALE", DEFAULT_FV_SCALE, 1, 128),
    FileName("EvalArchitecture", NO_ARCHITECTURE, "string"),
)


def tunable_options() -> tuple[Option, ...]:
    """The search's parameters, declared with LITESHOGI_TUNE in the environment, for `tune`."""
    if not os.environ.get("LITESHOGI_TUNE"):
        return ()
    from search.alphabeta.parameters import PARAMETERS

    return tuple(Spin(one.name, one.default, one.low, one.high) for one in PARAMETERS)


class AlphaBetaAdapter(Adapter["AlphaBetaEngine"]):
    """Options by YaneuraOu's names."""

    name = "LiteShogi"

    def __init__(self) -> None:
        super().__init__()
        self._tunable = tunable_options()
        self.options = OPTIONS + self._tunable
        self._backing: threading.Event | None = None
        self._network = ""
        self._parameters: dict[str, int] = {}

    def make(self, values: OptionValues, say: Say) -> AlphaBetaEngine:
        """Raises what compiling raises."""
        # The table comes first: its memory is backed while code is loaded or compiled.
        table = self._first_table(values, say)
        from search.evaluation.material import material_network
        from search.warmup import warm_up

        warm_up()
        from search.alphabeta.engine import AlphaBetaEngine

        # Until a file is read, a network that counts material: an engine without one could not answer at all.
        engine = AlphaBetaEngine(material_network(), 1)
        engine.use_table(table)
        return engine

    def _first_table(self, values: OptionValues, say: Say) -> TranspositionTable:
        from search.alphabeta.paging import back_table
        from search.alphabeta.transposition import TranspositionTable

        self._changed("USI_Hash", values)
        try:
            table = TranspositionTable(values.number("USI_Hash"))
        except MemoryError as error:
            table = TranspositionTable(FALLBACK_HASH)
            say(f"{error}; going on with {FALLBACK_HASH} MB")
        self._backing = back_table(table)
        return table

    def apply(self, engine: AlphaBetaEngine, values: OptionValues, say: Say) -> None:
        if self._changed("USI_Hash", values):
            self._set_hash(engine, values.number("USI_Hash"), say)
        if self._changed("Threads", values):
            try:
                engine.set_threads(values.number("Threads"))
            except MemoryError:
                say(f"Threads {values.number('Threads')} do not fit into memory; going on with as many as before")
        changed = [self._changed(name, values) for name in ("FV_SCALE", "EvalFile", "EvalArchitecture")]
        if any(changed):
            self._load(engine, values, say)
        changes = {one.name: value for one in self._tunable if (value := values.number(one.name)) != one.default}
        if changes != self._parameters:  # their table takes milliseconds, as long as a short search
            from search.alphabeta.parameters import make_numbers

            engine.numbers, self._parameters = make_numbers(changes), changes

    def _set_hash(self, engine: AlphaBetaEngine, megabytes: int, say: Say) -> None:
        from search.alphabeta.paging import back_table

        try:
            engine.set_hash(megabytes)
        except MemoryError as error:
            say(f"{error}; going on with {engine.table.megabytes} MB")
        else:
            self._backing = back_table(engine.table)

    def _load(self, engine: AlphaBetaEngine, values: OptionValues, say: Say) -> None:
        path, scale, named = values.text("EvalFile"), values.number("FV_SCALE"), values.text("EvalArchitecture")
        try:
            engine.set_network(
                path, None if scale == DEFAULT_FV_SCALE else scale, None if named == NO_ARCHITECTURE else named
            )
        except (OSError, ValueError, MemoryError) as error:
            self._refused.add("EvalFile")
            kept = self._network or self._fall_back(engine)
            if isinstance(error, OptionError):
                said, remedy = error.spelled(lambda field: "EvalArchitecture"), "Set the option or another EvalFile"
            else:
                said, remedy = str(error), "Set EvalFile to a net made by `liteshogi fold`, or to default"
            say(f"EvalFile: {said}; going on with {kept}. {remedy}")
            return
        self._refused.discard("EvalFile")
        self._network = path
        net = engine.network
        say(f"EvalFile {path}: {net.feature_set.name}, {net.width} lanes, {net.perspectives} perspective(s)")

    def _fall_back(self, engine: AlphaBetaEngine) -> str:
        """No network has been read yet: the one that is shipped; its name in words."""
        try:
            engine.set_network("default")
        except (OSError, ValueError, MemoryError):
            return "material alone"
        self._network = "default"
        return "the default net"

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
            "what each piece contributes for black, cp:",
            *draw_contributions(engine.position, left.men, worth),
        ]

    def bench(self, engine: AlphaBetaEngine) -> list[str]:
        from search.alphabeta.bench import signature

        figures = signature()
        return [f"signature {figures['signature']}  {figures['nps']:,} nodes/s (default net, one thread, CPU time)"]
