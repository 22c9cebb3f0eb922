"""The PUCT engine behind a USI session. Options are named as in dlshogi where it has them; constants are hundredths."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from search.puct.onnx_file import first_line, require_onnx
from search.score import is_mate
from search.system.bounds import MOST_MEGABYTES, MOST_THREADS
from search.system.files import message_of
from search.usi.adapter import Adapter, Refusal, Say
from search.usi.usi_options import Check, FileName, Option, OptionValues, Spin

if TYPE_CHECKING:
    from search.engine import Analysis
    from search.puct.engine import PuctEngine, Settings
    from search.puct.onnx_network import OnnxNetwork
    from search.puct.report import RootMove

GIVEN = "given"
"""Value of DNN_Model that stands for the model of the command line, whose path may contain spaces."""
FALLBACK_HASH = 16
"""Megabytes of the tree until the requested size is allocated, or if it does not fit."""
SHOWN_MOVES = 10
BENCH_PLAYOUTS = 2000
OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", 256, 1, MOST_MEGABYTES),  # megabytes of the tree
    Spin("Threads", 1, 1, MOST_THREADS),
    FileName("DNN_Model", GIVEN),
    Spin("DNN_Batch_Size", 8, 1, 256),
    Spin("C_init", 144, 0, 500),
    Spin("C_base", 28288, 10_000, 100_000),
    Spin("C_fpu_reduction", 27, 0, 100),
    Spin("C_init_root", 116, 0, 500),
    Spin("C_base_root", 25617, 10_000, 100_000),
    Spin("C_fpu_reduction_root", 0, 0, 100),
    Spin("Softmax_Temperature", 174, 1, 500),
    Spin("Leaf_Mate_Nodes", 100, 0, 1_000_000),
    # A session option with another default: playouts find a long mate late.
    Spin("Mate_Root_Search", 20_000, 0, 1 << 30),
    Check("DebugMessage", False),
)


class PuctAdapter(Adapter["PuctEngine"]):
    """The PUCT engine; `given` returns the model of the command line."""

    name = "LiteShogi PUCT"
    options = OPTIONS

    def __init__(self, given: Callable[[], OnnxNetwork]) -> None:
        super().__init__()
        self._given = given
        self._network = ""

    def make(self, values: OptionValues, say: Say) -> PuctEngine:
        from search.compiling.progress import PROGRESS
        from search.puct.engine import PuctEngine

        PROGRESS.expect("puct")
        model = self._given()
        self._applied["DNN_Model"] = GIVEN
        engine = PuctEngine(model, FALLBACK_HASH, 1, _settings(values))
        engine.warm_up()
        return engine

    def apply(self, engine: PuctEngine, values: OptionValues, say: Say) -> None:
        engine.use_settings(_settings(values))
        engine.on_listing = (lambda moves: _list(moves, say)) if values.flag("DebugMessage") else None
        self._use("USI_Hash", values, engine.set_hash, say)
        self._use("Threads", values, engine.set_threads, say)
        if self._changed("DNN_Model", values):
            self._use_model(engine, values.text("DNN_Model"))

    def _use_model(self, engine: PuctEngine, value: str) -> None:
        self.refusals.pop("DNN_Model", None)
        if value == GIVEN:
            engine.set_model(self._given())
            self._network = ""
            return
        before = engine.model
        try:
            engine.set_model(value)
        except (OSError, ValueError, MemoryError) as error:
            self._refuse(message_of(error))
            return
        try:
            engine.warm_up()
        except Exception as error:  # onnxruntime raises classes of its own
            engine.set_model(before)
            self._refuse(f"{value}: fails in a search: {first_line(error)}")
            return
        self._network = value

    def _refuse(self, reason: str) -> None:
        kept = self._network or "the model of the command line"
        remedy = f"Set DNN_Model to an ONNX file, or to {GIVEN}"
        self.refusals["DNN_Model"] = Refusal(f"DNN_Model: {reason}", kept, remedy)

    def evaluate(self, engine: PuctEngine) -> list[str]:
        from search.engine import Limits

        engine.new_game()  # the evaluation should come from the network, not from an earlier tree
        engine.ready()
        found = engine.search(Limits(nodes=1))[0]
        lines = [f"eval = {found.score}", f"win rate of the side to move {100 * found.win_rate:.1f} %"]
        # If the rules decide the position, the network has not seen it and the tree belongs to another position.
        moves = engine.root_moves()[:SHOWN_MOVES] if found.depth else []
        return lines + [f"policy {one.move} {100 * one.prior:.1f} %" for one in moves]

    def bench(self, engine: PuctEngine) -> list[str]:
        before = engine.game
        engine.new_game()
        found = engine.analyse("startpos", nodes=BENCH_PLAYOUTS)
        engine.set_position(*before)
        return [f"{found.nps:,} playouts/s"]

    def chances(self, found: Analysis) -> tuple[int, int, int]:
        from search.puct.report import PuctAnalysis

        # The rates of a proved mate are means of playouts, most of them before the proof.
        if not isinstance(found, PuctAnalysis) or is_mate(found.score):
            return super().chances(found)
        draws = round(1000 * found.draw_rate)
        wins = min(max(round(1000 * (found.even_rate - found.draw_rate / 2)), 0), 1000 - draws)
        return wins, draws, 1000 - wins - draws


def _settings(values: OptionValues) -> Settings:
    from search.puct.engine import Settings

    number = values.number
    return Settings(
        batch_size=number("DNN_Batch_Size"),
        initial=(number("C_init") / 100, number("C_init_root") / 100),
        base=(float(number("C_base")), float(number("C_base_root"))),
        reduction=(number("C_fpu_reduction") / 100, number("C_fpu_reduction_root") / 100),
        temperature=number("Softmax_Temperature") / 100,
        leaf_mate_nodes=number("Leaf_Mate_Nodes"),
    )


def _list(moves: list[RootMove], say: Say) -> None:
    """Report the search's statistics of every root move."""
    for one in moves:
        mate = f" mate {one.mate}" if one.mate else ""
        say(
            f"{one.move} visits {one.visits} prior {one.prior:.4f} win {one.win_rate:.4f} "
            f"draw {one.draw_rate:.4f} value {one.value:.4f}{mate}"
        )


def load_beside(path: Path) -> Callable[[], OnnxNetwork]:
    """Start to read a model in the background; return a function that waits for it and returns it, or raises the error.

    Raises OSError if the file cannot be read.
    """
    require_onnx(path)
    loaded: Future[OnnxNetwork] = Future()
    threading.Thread(target=_load, args=(path, loaded), daemon=True).start()
    return loaded.result


def _load(path: Path, loaded: Future[OnnxNetwork]) -> None:
    try:
        from search.puct.onnx_network import OnnxNetwork

        loaded.set_result(OnnxNetwork(path.absolute()))
    except ModuleNotFoundError as error:
        loaded.set_exception(ImportError(f"this needs {error.name}: pip install 'liteshogi[experiments]'"))
    except Exception as error:  # of any class, as of a library that does not fit NumPy: the session would wait forever
        loaded.set_exception(error)
