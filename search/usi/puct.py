"""`liteshogi puct MODEL.onnx`: the PUCT player as a USI engine, in the session that the alpha-beta engine speaks with.

Options carry dlshogi's names where it has them. As there, constants are in hundredths.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from search.usi.options import OPTIONS, Check, FileName, Option, Spin
from search.usi.process import main
from search.usi.session import FALLBACK_HASH, Protocol

if TYPE_CHECKING:
    from search.alphabeta.engine import Analysis, Engine
    from search.puct.engine import PuctEngine, Settings
    from search.puct.onnx_network import OnnxNetwork
    from search.puct.report import RootMove

GIVEN = "given"
"""Value of DNN_Model that stands for the model of the command line, whose path may hold spaces."""
_LEFT_OUT = ("USI_Hash", "EvalFile", "FV_SCALE")

PUCT_OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", 256, 1, 1 << 20),  # megabytes of the tree
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
    Spin("Root_Mate_Nodes", 20_000, 0, 1_000_000_000),
    Check("DebugMessage", False),
    *(option for option in OPTIONS if option.name not in _LEFT_OUT),
)


class PuctProtocol(Protocol):
    """A USI session of the PUCT player; `given` returns the model of the command line."""

    name = "LiteShogi PUCT"
    costly = ("USI_Hash", "Threads", "DNN_Model")

    def __init__(self, write: Callable[[str], None], given: Callable[[], OnnxNetwork]) -> None:
        super().__init__(write, PUCT_OPTIONS)
        self._given = given

    def _make_engine(self) -> Engine:
        from search.puct.engine import PuctEngine
        from search.warmup import compiling_alone

        model = self._given()
        self._applied["USI_Hash"] = self._applied["DNN_Model"] = ""
        with compiling_alone():
            engine = PuctEngine(model, FALLBACK_HASH, 1, self._settings())
            engine.warm_up()
        return engine

    def _settings(self) -> Settings:
        from search.puct.engine import Settings

        number = self._options.number
        return Settings(
            batch_size=number("DNN_Batch_Size"),
            initial=(number("C_init") / 100, number("C_init_root") / 100),
            base=(float(number("C_base")), float(number("C_base_root"))),
            reduction=(number("C_fpu_reduction") / 100, number("C_fpu_reduction_root") / 100),
            temperature=number("Softmax_Temperature") / 100,
            leaf_mate_nodes=number("Leaf_Mate_Nodes"),
            root_mate_nodes=number("Root_Mate_Nodes"),
        )

    def _apply_options(self, engine: Engine) -> None:
        puct = _as_puct(engine)
        puct.use_settings(self._settings())
        puct.on_listing = self._list if self._options.flag("DebugMessage") else None
        super()._apply_options(engine)

    def _apply_option(self, engine: Engine, name: str, value: str) -> None:
        puct = _as_puct(engine)
        if name == "DNN_Model":
            self._use_model(puct, value)
        elif name == "Threads":
            puct.set_threads(int(value))
        else:
            try:
                puct.set_hash(int(value))
            except MemoryError as error:
                self._say(f"{error}; going on with {puct.tree.megabytes} MB")

    def _use_model(self, engine: PuctEngine, value: str) -> None:
        if value == GIVEN:
            if self._network:
                engine.set_model(self._given())
            self._network = ""
            return
        try:
            engine.set_model(value)
        except (OSError, ValueError) as error:
            self._say(f"DNN_Model: {error}; going on with {self._network or 'the model of the command line'}")
            return
        self._network = value
        engine.warm_up()

    def _list(self, moves: list[RootMove]) -> None:
        """What the search knows of every move at the root."""
        for one in moves:
            mate = f" mate {one.mate}" if one.mate else ""
            self._write(
                f"info string {one.move} visits {one.visits} prior {one.prior:.4f} win {one.win_rate:.4f} "
                f"draw {one.draw_rate:.4f} value {one.value:.4f}{mate}"
            )

    def _chances(self, found: Analysis) -> tuple[int, int, int]:
        from search.puct.report import PuctAnalysis

        if not isinstance(found, PuctAnalysis):
            return super()._chances(found)
        draws = round(1000 * found.draw_rate)
        wins = min(max(round(1000 * (found.even_rate - found.draw_rate / 2)), 0), 1000 - draws)
        return wins, draws, 1000 - wins - draws


def _as_puct(engine: Engine) -> PuctEngine:
    from search.puct.engine import PuctEngine

    assert isinstance(engine, PuctEngine)
    return engine


@dataclass(frozen=True)
class Puct:
    """Speak USI with a policy-value network in an ONNX file of dlshogi's format, searched by PUCT."""

    model: tyro.conf.Positional[Path]
    """ONNX file: inputs input1 and input2, outputs output_policy, output_value and perhaps output_draw."""

    def run(self) -> None:
        if not self.model.is_file():
            raise FileNotFoundError(f"{self.model}: there is no such file")
        loaded: Future[OnnxNetwork] = Future()
        threading.Thread(target=_load, args=(self.model, loaded), daemon=True).start()
        main(partial(PuctProtocol, given=loaded.result))


def _load(path: Path, loaded: Future[OnnxNetwork]) -> None:
    """Read the model while a GUI says hello; without one there is nothing to play with, and the process ends."""
    try:
        from search.puct.onnx_network import OnnxNetwork

        loaded.set_result(OnnxNetwork(path.absolute()))
    except ModuleNotFoundError as error:
        _give_up(f"this needs {error.name}: pip install 'liteshogi[experiments]'")
    except (ValueError, OSError, MemoryError) as error:
        _give_up(" ".join(str(error).split()) or "not enough memory")


def _give_up(reason: str) -> None:
    print(f"error: {reason}", file=sys.stderr, flush=True)
    os._exit(1)
