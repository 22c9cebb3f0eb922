"""The alpha-beta engine: what it is told, what it reports, and when it has thought enough.

The search is compiled code that holds no lock, so a timer or another thread can set its stop flag; where it can, it
looks at the clock itself. It comes back after each depth where a clock runs, else after each that took a while. With
several threads the others search the same position at other depths into the shared table (lazy SMP); the first one
tells the depths and ends the search, and all of them vote for the move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from search.alphabeta.deepening import cut_found_better, deepen, legal_length
from search.alphabeta.paging import begin_small, grow_before, grow_within
from search.alphabeta.parameters import EVERY_STEP, make_numbers
from search.alphabeta.settling import settling
from search.alphabeta.thread import HISTORIES, LOW_PLY_HISTORY, SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.alphabeta.vote import believed
from search.clock import Budget
from search.engine import Analysis, Engine, Limits, OnInfo, OnProgress, Progress, root_moves
from search.evaluation.accumulator import Accumulators
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.primitives.ticks import READABLE, ticks_at
from search.rules.position import copy_position
from search.rules.sfen import move_from_usi, move_to_usi
from search.score import MAX_PLY, is_mate, mate_plies, win_rate
from search.system.bounds import check_threads
from search.system.interrupt import run_beside
from search.system.paths import PathLike
from search.system.threads import started

PROGRESS_SECONDS = 1.0
QUIET_SECONDS = 0.01
"""A search that is younger has no need of a thread that tells how far it is, and one whose last depth took no longer
of none that lets Ctrl-C through: the depth that it is at ends soon."""
TOLD_NODES = 2000
"""Depths of fewer nodes are told together, after a millisecond or two."""


class AlphaBetaEngine(Engine):
    """Searches positions with an evaluated network. One search at a time; `stop` may be called from any thread."""

    reads_clock = READABLE

    def __init__(self, network: EvalNetwork | PathLike = "default", hash_mb: int = 64, threads: int = 1) -> None:
        """`network` is a loaded one, a path, or `default`. Raises OSError, ValueError or MemoryError in words."""
        super().__init__()
        self.network = network if isinstance(network, EvalNetwork) else load_network(network)
        self.table = TranspositionTable(hash_mb)
        begin_small(self.table)
        self.steps, self.numbers = EVERY_STEP, make_numbers()
        self._threads: list[SearchThread] = []
        self.set_threads(threads)
        self._took_long = False
        self._searched = False
        self._searched_rules = self.rules

    @property
    def cp_per_logit(self) -> float:
        """The network's scale."""
        return self.network.cp_per_logit

    def set_threads(self, count: int) -> None:
        """Use so many threads; ValueError for fewer than 1 or more than 64, MemoryError if they do not fit, and there
        are as many as before."""
        check_threads(count)
        more = [SearchThread(self.network, self.table) for _ in range(len(self._threads), count)]
        self._threads = self._threads[:count] + more

    def set_hash(self, megabytes: int) -> None:
        """Another table; if it does not fit, MemoryError (ValueError if none can have that size) and the old one
        stays."""
        self.use_table(TranspositionTable(megabytes))

    def use_table(self, table: TranspositionTable) -> None:
        """Search with another table, an empty one; what else was learnt is forgotten, too."""
        if self._searched:
            for thread in self._threads:
                thread.clear()
        begin_small(table)
        self.table = table
        self._searched = False
        for thread in self._threads:
            thread.use_table(table)

    def set_network(
        self, network: EvalNetwork | PathLike, fv_scale: int | None = None, architecture: str | None = None
    ) -> None:
        """Another network, with this divisor and YaneuraOu's name of the architecture for an nn.bin; if it cannot be
        read or does not fit, OSError, ValueError or MemoryError and the old one stays."""
        network = network if isinstance(network, EvalNetwork) else load_network(network, fv_scale, architecture)
        sums = [Accumulators(network) for _ in self._threads]
        self.network = network
        for thread, accumulators in zip(self._threads, sums, strict=True):
            thread.accumulators = accumulators
        self.new_game()

    def new_game(self) -> None:
        """Forget everything learnt."""
        if not self._searched:
            return  # clearing would touch every page of a table that the system has not handed out yet
        self._searched = False
        self.table.clear()
        for thread in self._threads:
            thread.clear()

    def limit(self, budget: Budget | None, start: float | None = None) -> None:
        """As every engine; the search looks at the clock itself, where it can read it."""
        start = time.perf_counter() if start is None else start
        self._threads[0].record["deadline"] = 0 if budget is None else ticks_at(budget.end(start))
        super().limit(budget, start)

    def stop(self) -> None:
        """End the search under way within a millisecond or so."""
        super().stop()
        for thread in self._threads:
            thread.record["stop"] = 1

    def _search(self, limits: Limits, on_info: OnInfo | None, on_progress: OnProgress | None) -> list[Analysis]:
        begun = time.perf_counter()
        roots = root_moves(self.position, limits.moves)
        partial = bool(limits.moves) and len(np.setdiff1d(root_moves(self.position), roots)) > 0
        if self._searched and self.rules != self._searched_rules:
            # Scores, and what was learnt from them, are of other values of a draw, or of other ends of a game.
            self.table.clear()
            for thread in self._threads:
                thread.clear_corrections()
        self._searched, self._searched_rules = True, self.rules
        grow_before(self.table)
        self.table.new_search()
        for number, thread in enumerate(self._threads):
            copy_position(thread.position, self.position)
            self._prepare(thread, roots, partial, limits)
            thread.record["depth"] = number % 2  # other depths at other times
        if self._stopped.is_set():
            self.stop()
        helpers = [started(threading.Thread(target=_deepening(thread, MAX_PLY - 1))) for thread in self._threads[1:]]
        self._took_long = False
        teller = _Teller(on_progress and (lambda: on_progress(self._progress(begun))), begun)
        try:
            lines = min(self.multipv, len(roots))
            last = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
            if lines == 1:
                found = [self._one_line(begun, last, on_info, teller)]
            else:
                found = self._lines(begun, last, lines, on_info, teller)
        finally:
            teller.end()
            for thread in self._threads:
                thread.record["stop"] = 1
            for helper in filter(None, helpers):
                helper.join()
        if lines == 1 and helpers and limits.depth is None:
            return [self._outcome(begun, self._threads[believed([thread.record for thread in self._threads])])]
        return found

    def _prepare(self, thread: SearchThread, roots: np.ndarray, partial: bool, limits: Limits) -> None:
        record = thread.record
        record["stop"] = 0
        record[LOW_PLY_HISTORY] = HISTORIES[LOW_PLY_HISTORY]
        record["steps"], record["numbers"] = self.steps, self.numbers
        record["nodes"] = 0
        record["node_limit"] = 0 if limits.nodes is None else max(1, limits.nodes // len(self._threads))
        record["analysis"] = limits.analysis
        record["root_moves"][: len(roots)] = roots
        record["root_count"] = len(roots)
        record["root_partial"] = partial
        record["root_first"] = record["pause"] = 0
        record["depth"] = record["score"] = record["line_length"] = record["pv_length"][0] = 0
        record["table"] = self.table.record
        thread.set_draw_value(self.rules.draw_value)
        record["max_moves"] = self.rules.max_moves
        record["declaration_rule"] = self.rules.declaration

    def _progress(self, begun: float) -> Progress:
        return Progress(nodes=self._nodes(), milliseconds=_since(begun), hashfull=self.table.hashfull())

    def _one_line(self, begun: float, last: int, on_info: OnInfo | None, teller: _Teller) -> Analysis:
        thread = self._threads[0]
        record = thread.record
        before, told = 0, Analysis(None, 0)
        while True:
            record["pause"] = TOLD_NODES if self.clock.read()[0] is None else 1
            self._deepen(last)
            depth = int(record["depth"])
            if depth == before:
                break
            if on_info is not None:
                for found in self._depths_since(told, begun):
                    on_info(found)
                    told = found
            if record["stop"] or depth >= last or self._enough(record, depth, int(record["score"]), 1):
                break
            before = depth
            self._grow()
            teller.begin()
        return self._outcome(begun, thread)

    def _grow(self) -> None:
        """Let the search use more of its table where it has filled what it uses."""
        budget, elapsed = self.clock.read()
        while grow_within(self.table, None if budget is None else budget.maximum - elapsed):
            for thread in self._threads:
                thread.record["table"]["clusters"] = self.table.record["clusters"]

    def _deepen(self, last: int) -> None:
        """On with the first thread's search, to this depth at most."""
        begun, work = time.perf_counter(), _deepening(self._threads[0], last)
        if self._took_long:
            run_beside(work, self.stop)
        else:
            work()
        self._took_long = time.perf_counter() - begun > QUIET_SECONDS

    def _outcome(self, begun: float, thread: SearchThread) -> Analysis:
        """What a thread's search has come to."""
        record = thread.record
        if cut_found_better(record):
            line = record["pv"][0][: record["pv_length"][0]]
            length = legal_length(thread.position, line, np.int64(len(line)))
            depth, seldepth, score = (int(record[name]) for name in ("root_depth", "seldepth", "pv_score"))
            return self._report(begun, depth, seldepth, score, line[:length])
        return self._finished(begun, record)

    def _depths_since(self, told: Analysis, begun: float) -> Iterator[Analysis]:
        """What the depths after the one that was told last have found, each at the time that its nodes tell: the search
        has come back after the last of them."""
        record = self._threads[0].record
        others = self._nodes() - int(record["nodes"])
        pace = (_since(begun) - told.milliseconds) / max(1, self._nodes() - told.nodes)
        hashfull = self.table.hashfull()
        found = record["found"][told.depth + 1 : record["depth"] + 1].tolist()
        for depth, (nodes, score, seldepth, length, line) in enumerate(found, told.depth + 1):
            yield self._analysis(
                line[:length].tolist(),
                score,
                depth=depth,
                seldepth=seldepth,
                nodes=nodes + others,
                milliseconds=told.milliseconds + int(pace * (nodes + others - told.nodes)),
                hashfull=hashfull,
            )

    def _finished(self, begun: float, record: np.void) -> Analysis:
        """What the last depth that a thread has finished has found."""
        depth = int(record["depth"])
        seldepth = int(record["found"][depth]["seldepth"])  # the record's own may be that of a depth that was cut
        line = record["line"][: record["line_length"]]
        return self._report(
            begun, depth, seldepth, int(record["score"]), line if len(line) else record["root_moves"][:1]
        )

    def _lines(self, begun: float, last: int, lines: int, on_info: OnInfo | None, teller: _Teller) -> list[Analysis]:
        """Several lines (MultiPV): at each depth the best move, then the best of the others, and so on. Behind those of
        a depth that was cut stand those of the depth before."""
        thread = self._threads[0]
        record = thread.record
        scores = [0] * lines
        best = [self._finished(begun, record)]
        for depth in range(1, last + 1):
            found = []
            for index in range(lines):
                record["root_first"], record["depth"], record["score"] = index, depth - 1, scores[index]
                self._deepen(depth)
                if record["depth"] < depth:
                    break
                found.append(self._finished(begun, record))
            record["root_first"] = 0
            if found:
                found = self._ranked(found, begun)
                scores[: len(found)] = [line.score for line in found]
                firsts = [line.pv[0] for line in found]
                _put_first(record, firsts)
                best = found + [line for line in best if line.depth and line.pv[0] not in firsts]
            is_whole = len(found) == lines
            if is_whole and on_info is not None:
                for line in found:
                    on_info(line)
            if record["stop"] or self._enough(record, depth, best[0].score, lines):
                break
            self._grow()
            teller.begin()
        nodes, milliseconds = self._nodes(), _since(begun)
        best = [
            replace(line, rank=rank, nodes=nodes, milliseconds=milliseconds)
            for rank, line in enumerate(best[:lines], 1)
        ]
        if not is_whole and on_info is not None:  # a reader keeps the last line of each rank
            for line in filter(lambda line: line.depth, best):
                on_info(line)
        return best

    def _ranked(self, found: list[Analysis], begun: float) -> list[Analysis]:
        """The lines of one depth, best first, all with the nodes and the time that they took together."""
        nodes, milliseconds = self._nodes(), _since(begun)
        found.sort(key=lambda line: -line.score)
        return [replace(line, rank=rank, nodes=nodes, milliseconds=milliseconds) for rank, line in enumerate(found, 1)]

    def _enough(self, record: np.void, depth: int, score: int, lines: int) -> bool:
        """Whether another iteration is not worth beginning. Several lines are told apart for a reader, not for the
        next move: what they say of it is not weighed."""
        budget, elapsed = self.clock.read()
        if budget is None or elapsed < budget.minimum:
            return False
        if record["root_count"] == 1 and depth >= 4:
            return True
        # A mate that is proved deeper than it is long will not get shorter.
        if is_mate(score) and depth > abs(mate_plies(score)) + 2:
            return True
        return budget.is_enough(elapsed, settling(record) if lines == 1 and not budget.is_fixed else 1)

    def _nodes(self) -> int:
        return sum(int(thread.record["nodes"]) for thread in self._threads)

    def _report(self, begun: float, depth: int, seldepth: int, score: int, line: np.ndarray) -> Analysis:
        """A legal line (uint16 moves) with its score, and the counters as they stand."""
        return self._analysis(
            line.tolist(),
            score,
            depth=depth,
            seldepth=seldepth,
            nodes=self._nodes(),
            milliseconds=_since(begun),
            hashfull=self.table.hashfull(),
        )

    def _analysis(self, line: list[int], score: int, **counters: int) -> Analysis:
        moves = tuple(move_to_usi(move) for move in line)
        return Analysis(
            best_move=moves[0],
            ponder_move=moves[1] if len(moves) > 1 else None,
            score=score,
            pv=moves,
            win_rate=float(score > 0) if is_mate(score) else win_rate(score, self.cp_per_logit),
            **counters,
        )


class _Teller:
    """Tells how far a search is, once a second, from a thread of its own: a depth may take minutes."""

    def __init__(self, tell: Callable[[], None] | None, begun: float) -> None:
        self._tell = tell
        self._begun = begun
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Tell from here on, where anybody listens and the search is as old as that."""
        if self._tell is not None and self._thread is None and time.perf_counter() - self._begun > QUIET_SECONDS:
            self._thread = started(threading.Thread(target=self._run, args=(self._tell,)))

    def _run(self, tell: Callable[[], None]) -> None:
        while not self._done.wait(PROGRESS_SECONDS):
            tell()

    def end(self) -> None:
        """Tell no more."""
        if self._thread is not None:
            self._done.set()
            self._thread.join()


def _since(begun: float) -> int:
    """Milliseconds since a `time.perf_counter()`."""
    return int((time.perf_counter() - begun) * 1000)


def _deepening(thread: SearchThread, last: int) -> Callable[[], None]:
    """A thread's search to this depth, to be called."""
    sums = thread.accumulators
    return partial(deepen, thread.position, thread.record, sums.record, sums.network, np.int64(last))


def _put_first(record: np.void, firsts: list[str]) -> None:
    """Order the root moves so that the best lines' moves lead, in their order."""
    count = int(record["root_count"])
    lead = [move_from_usi(usi) for usi in firsts]
    rest = [int(move) for move in record["root_moves"][:count] if int(move) not in lead]
    record["root_moves"][:count] = lead + rest
