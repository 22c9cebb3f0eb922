"""The PUCT engine: threads that send batches of playouts down one tree and through a network, and when they stop.

Every thread gathers a batch while it holds the tree's lock, evaluates the batch without it (onnxruntime holds no Python
lock), and adds the results to the tree with the lock again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from search.engine import Analysis, Engine, Limits, OnProgress, OnReport
from search.mate.solver import MateSolver, MateStatus
from search.puct.leaves import MATE_MEGABYTES, Leaves, PolicyValueFunction
from search.puct.onnx_network import OnnxNetwork
from search.puct.planes import LABELS
from search.puct.playout import FULL, SETTLED
from search.puct.report import RootMove, best_lines, list_root_moves
from search.puct.tree import EXPANDED, UNPROVED
from search.puct.tree_memory import MOST_VISITS, Tree
from search.rules.position import copy_position, do_move, new_position
from search.rules.sfen import move_from_usi
from search.score import MATE, MAX_PLY, is_mate, win_rate
from search.system.bounds import check_threads
from search.system.paths import PathLike
from search.system.threads import started

LONGEST_BATCH = 0.03
"""Longest time of a batch in seconds: a `stop` waits for one batch."""
SAFETY = 1.3
"""Factor on the time that batches have taken, to estimate that of the next one."""
SETTLED_SHARE = 4
"""Largest number of playouts for a batch, in batch sizes: those that end without the network leave no position in
it."""
GROWTH_SHARE = 8
"""A batch has at most one position, and one more per GROWTH_SHARE visits of the root: early playouts guess blindly."""
SINGLE_VISITS = 16
"""Number of playouts if there is only one move."""
SURE_FROM = 0.1
"""Share of the optimum after which a move that cannot be overtaken is played."""
CLOSE = 0.8
"""Ratio of the second move's visits to the first move's above which the choice is not clear."""
INFO_SECONDS = 0.5
"""Interval of the reports during a search, in seconds."""


@dataclass(frozen=True)
class Settings:
    """Constants of the search, with dlshogi's values as defaults."""

    batch_size: int = 8
    """Largest number of positions in a batch for the network."""
    initial: tuple[float, float] = (1.44, 1.16)
    """C_init of U, for inner nodes and for the root."""
    base: tuple[float, float] = (28288.0, 25617.0)
    """C_base of U, for inner nodes and for the root."""
    reduction: tuple[float, float] = (0.27, 0.0)
    """Reduction of an unvisited move's value below its node's, once all other moves have been tried (inner nodes,
    root)."""
    temperature: float = 1.74
    """Temperature of the policy's softmax."""
    leaf_mate_nodes: int = 100
    """Nodes of the mate search at a leaf that has checks; 0 means mates in one only."""

    def write(self, tree: np.void) -> None:
        """Write the settings to a tree's record."""
        tree["initial"], tree["base"] = self.initial, self.base
        tree["reduction"], tree["temperature"] = self.reduction, self.temperature
        tree["mate_nodes"], tree["salt"] = self.leaf_mate_nodes, (1, 2)


def even_network(input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
    """Return the policy (B, 2187) and the win rates (B,) of a network for which every position is even and every move
    equally good, f4, and no draw rates; `input1` and `input2` are planes of B positions."""
    return np.zeros((len(input1), LABELS), np.float32), np.full(len(input1), 0.5, np.float32), None


class _Worker:
    """The memory of one thread."""

    def __init__(self, batch_size: int) -> None:
        self.position = new_position()
        self.leaves = Leaves(batch_size)


class PuctEngine(Engine):
    """An engine that searches with a policy-value network, one position at a time.

    `stop` may be called from any thread.
    """

    def __init__(
        self,
        model: PolicyValueFunction | PathLike,
        tree_mb: int = 64,
        threads: int = 1,
        settings: Settings | None = None,
    ) -> None:
        """`model` is a loaded network or the path of an ONNX file.

        Raises OSError or ValueError for a file that cannot be used, MemoryError if the tree does not fit.
        """
        super().__init__()
        self.settings = settings or Settings()
        self.model: PolicyValueFunction = OnnxNetwork(Path(model)) if isinstance(model, str | os.PathLike) else model
        self.tree = Tree(tree_mb)
        self.on_listing: Callable[[list[RootMove]], None] | None = None
        """Called with the root's moves, best first, at the end of a search."""
        self._workers: list[_Worker] = []
        self._tree_game: tuple[str, tuple[str, ...]] | None = None
        self._tree_rules: tuple[int, int, bool] = (-1, -1, False)
        self._mate_solver = MateSolver(MATE_MEGABYTES)
        # The tree's lock, and fields that only its holder changes; waiting threads are woken when a batch has returned.
        self._turn = threading.Condition()
        self._flying = 0
        self._full = False
        self._halted = False
        self._failure: Exception | None = None
        self._pace = 0.0
        self._wanted: set[int] = set()
        self.set_threads(threads)

    # Settings of the engine

    def set_threads(self, count: int) -> None:
        """Use `count` threads.

        Raises ValueError unless it is 1 to 64, and MemoryError if they do not fit; the number of threads is then
        unchanged.
        """
        check_threads(count)
        more = [_Worker(self.settings.batch_size) for _ in range(len(self._workers), count)]
        self._workers = self._workers[:count] + more

    def set_hash(self, megabytes: int) -> None:
        """Replace the tree by one of `megabytes` MB.

        Raises ValueError for an impossible size and MemoryError if it does not fit; the old tree then stays.
        """
        self.tree = Tree(megabytes)
        self._tree_game = None

    def set_model(self, model: PolicyValueFunction | PathLike) -> None:
        """Replace the network. Raises OSError or ValueError if it cannot be used; the old one then stays."""
        self.model = OnnxNetwork(Path(model)) if isinstance(model, str | os.PathLike) else model
        self._pace = 0.0
        self._tree_game = None

    def use_settings(self, settings: Settings) -> None:
        """Replace the constants of the search."""
        if settings == self.settings:
            return
        if settings.batch_size != self.settings.batch_size:
            self._workers = [_Worker(settings.batch_size) for _ in self._workers]
        if settings.temperature != self.settings.temperature:
            self._tree_game = None
        self.settings = settings

    def new_game(self) -> None:
        """Start the next search with an empty tree."""
        self._tree_game = None

    def warm_up(self) -> None:
        """Compile or load the code of the search, let the network allocate its memory, and measure its time."""
        self._mate_solver.prepare()
        before = self.game
        try:
            self.analyse("startpos", nodes=10 * self.settings.batch_size)
        finally:
            self.set_position(*before)
            self._tree_game = None
        self.tree.shrink()
        self.tree.forget_repetitions()

    def root_moves(self) -> list[RootMove]:
        """Return the root's moves of the last search, best first."""
        with self._turn:
            return list_root_moves(self.tree, int(self.position["turn"]))

    # The search

    def _find_lines(self, limits: Limits, on_report: OnReport | None, on_progress: OnProgress | None) -> list[Analysis]:
        """Search and return the lines found, best first.

        `on_progress` is never called, because lines are reported often enough.
        """
        begun = time.perf_counter()
        nodes = limits.nodes
        self._enter_root(limits.moves, limits.analysis)
        self._halted, self._full, self._failure = False, False, None
        for worker in self._workers:
            copy_position(worker.position, self.position)
        others = [] if limits.one_thread else self._workers[1:]
        helpers = [started(threading.Thread(target=self._assist, args=(worker, nodes))) for worker in others]
        reported = begun
        try:
            while not self._is_enough(begun, limits):
                self._playouts(self._workers[0], nodes)
                now = time.perf_counter()
                if on_report and now - reported >= INFO_SECONDS:
                    reported = now
                    on_report(self._lines_found(begun), False)
        finally:
            with self._turn:
                self._halted = True
                self._turn.notify_all()
            for helper in filter(None, helpers):
                helper.join()
        if self._failure is not None:
            raise self._failure
        lines = self._lines_found(begun)
        lines[0] = self._with_mate(lines[0])
        if on_report:
            on_report(lines, True)
        if self.on_listing is not None:
            self.on_listing(list_root_moves(self.tree, int(self.position["turn"])))
        return lines

    def _enter_root(self, searchmoves: Sequence[str], analysis: bool) -> None:
        """Make the present position the root of the tree, and keep the tree's part below it if it can be used.

        The tree stores which nodes the rules have ended, so other rules, an analysis's included, require another tree.
        """
        tree, record, settings, rules = self.tree, self.tree.record, self.settings, self.rules
        known = self._tree_game
        rules_now = (rules.declaration, rules.max_moves, analysis)
        start, moves = self.game
        wanted = {move_from_usi(move) for move in searchmoves}
        # If only some moves were searched, one of them would always stay the most visited.
        is_narrow = bool(self._wanted) and wanted != self._wanted and known == self.game
        reusable = (
            known is not None
            and known[0] == start
            and known[1] == moves[: len(known[1])]
            and rules_now == self._tree_rules
            and not is_narrow
            and tree.advance([move_from_usi(move) for move in moves[len(known[1]) :]])
        )
        if not reusable:
            tree.clear()
            for worker in self._workers:
                worker.leaves.table.clear()
        self._tree_game, self._tree_rules = self.game, rules_now
        settings.write(record)
        record["draw_value"] = [win_rate(value) for value in rules.draw_value]
        record["rule"], record["max_moves"], record["analysis"] = rules_now
        record["visits"] = record["deepest"] = 0
        for worker in self._workers:
            worker.leaves.begin_search()
        self._wanted = wanted
        tree.allow(self._wanted)

    def _assist(self, worker: _Worker, nodes: int | None) -> None:
        """Run batches in a further thread until the first one stops."""
        try:
            while not self._halted:
                self._playouts(worker, nodes)
        except Exception as error:
            with self._turn:
                self._failure, self._halted = error, True
                self._turn.notify_all()

    def _playouts(self, worker: _Worker, limit: int | None) -> None:
        """Run one batch of playouts: down the tree, through the network, and back up."""
        with self._turn:
            count = self._gather(worker, limit)
            if not count:
                return
            self._flying += count
        try:
            begun = time.perf_counter()
            worker.leaves.evaluate(self.model, count)
            pace = (time.perf_counter() - begun) / count
        except BaseException:
            with self._turn:
                worker.leaves.abandon(self.tree, 0, count)
                self._flying -= count
                self._turn.notify_all()
            raise
        with self._turn:
            tree = self.tree
            worker.leaves.absorb(tree, 0, count)
            if self._wanted:
                tree.allow(self._wanted)  # the root may have been expanded by this batch
            self._flying -= count
            self._pace = pace if not self._pace else 0.8 * self._pace + 0.2 * pace
            self._turn.notify_all()

    def _gather(self, worker: _Worker, limit: int | None) -> int:
        """Fill a batch while holding the lock; return the number of leaves, 0 if there is nothing to evaluate."""
        tree = self.tree
        while self._full and not self._halted:
            if self._flying == 0:
                tree.shrink()
                self._full = False
                self._turn.notify_all()
            else:
                self._turn.wait()
        size = self._batch_size()
        most = SETTLED_SHARE * size
        if limit is not None:
            most = min(most, limit - int(tree.record["visits"]) - self._flying)
        count, outcome = worker.leaves.gather(tree, worker.position, 0, size, 0 if self._halted else most)
        if outcome == FULL:
            self._full = True
        elif outcome != SETTLED and count == 0 and self._flying:
            self._turn.wait(LONGEST_BATCH)  # batches of other threads must return first
        return count

    def _batch_size(self) -> int:
        """Return the size of the next batch: that of the settings, or less while the tree is small or time is short."""
        size = min(self.settings.batch_size, 1 + int(self.tree.root["visits"]) // GROWTH_SHARE)
        if self._pace:
            size = min(size, int(LONGEST_BATCH / self._pace))
            budget, elapsed = self.clock.read()
            if budget is not None:
                size = min(size, int((budget.maximum - elapsed) / (1000 * SAFETY * self._pace)))
        return max(size, 1)

    # The end of a search and its result

    def _is_enough(self, begun: float, limits: Limits) -> bool:
        with self._turn:
            root, visits = self.tree.root, int(self.tree.record["visits"])
            if self._failure is not None:
                return True
            if root["state"] != EXPANDED:
                return False  # the root must be evaluated, however short the time
            if self._stopped.is_set() or root["proof"] != UNPROVED or root["visits"] >= MOST_VISITS:
                return True
            if limits.nodes is not None and visits >= limits.nodes:
                return True
            if limits.depth is not None and self.tree.depth() >= min(limits.depth, MAX_PLY):
                return True
            budget, elapsed = self.clock.read()
            if budget is None:
                return False
            if budget.maximum - elapsed < 1000 * SAFETY * self._pace:
                return True
            if elapsed < budget.minimum:
                return False
            if self.tree.record["allowed"][: root["edge_count"]].sum() == 1 and root["visits"] >= SINGLE_VISITS:
                return True
            if budget.is_fixed or elapsed < SURE_FROM * budget.optimum:
                return False  # unused time is lost
            first, second, unsure = self.tree.leaders()
            if elapsed < budget.optimum:
                rate = visits / max(1.0, (time.perf_counter() - begun) * 1000)
                return first - second > rate * (budget.optimum - elapsed)
            return not (unsure or second > CLOSE * first)

    def _lines_found(self, begun: float) -> list[Analysis]:
        """Return the best lines, as many as MultiPV, with time and playouts so far."""
        with self._turn:
            milliseconds = int((time.perf_counter() - begun) * 1000)
            turn = int(self.position["turn"])
            return best_lines(self.tree, turn, self._wanted, self.multipv, milliseconds)

    def _with_mate(self, found: Analysis) -> Analysis:
        """Return the analysis with the line completed, if it ends in a mate that a leaf's mate search has proved and
        time is left."""
        if found.score <= 0 or not is_mate(found.score):
            return found
        pos = self.position.copy()
        for move in found.pv:
            do_move(pos, np.int64(move_from_usi(move)))
        budget, elapsed = self.clock.read()
        left = None if budget is None else budget.maximum - elapsed
        mate = self._mate_solver.solve(pos, milliseconds=left, nodes=10 * max(self.settings.leaf_mate_nodes, 1000))
        if mate.status is not MateStatus.MATE:
            return found
        pv = found.pv + mate.moves
        return replace(found, pv=pv, score=MATE - len(pv), depth=len(pv))
