"""The alpha-beta engine: options, reports, and the decision to stop.

The search is compiled code that releases the GIL, so that a timer or another thread can set its stop flag; where it
can, it reads the clock itself. It returns to Python after each depth that took a while. Further threads search the
same position at other depths with a shared table (lazy SMP). The first thread reports the depths and ends the search;
all threads vote for the move.
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
from search.engine import Analysis, Engine, Limits, OnProgress, OnReport, Progress, root_moves
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
"""Age in seconds from which a search reports progress from a thread, and duration of a depth from which the next one
runs beside a thread that handles Ctrl-C. Shorter depths end soon anyway."""
REPORTED_NODES = 2000
"""Depths of fewer nodes are searched without returning to Python: they take a millisecond or two."""
REPORT_MILLISECONDS = 100
"""Least time between reports while a clock runs; depths finished meanwhile are reported together. A report
wakes its reader, which takes a core from the search where all cores are busy; YaneuraOu's PvInterval is 300 ms."""


class AlphaBetaEngine(Engine):
    """Searches positions with an evaluation network. One search runs at a time; any thread may call `stop`."""

    reads_clock = READABLE

    def __init__(self, network: EvalNetwork | PathLike = "default", hash_mb: int = 64, threads: int = 1) -> None:
        """`network` is a loaded network, a path, or `default`. Raises OSError, ValueError or MemoryError."""
        super().__init__()
        self.network = network if isinstance(network, EvalNetwork) else load_network(network)
        self.table = TranspositionTable(hash_mb)
        begin_small(self.table)
        self.steps, self.numbers = EVERY_STEP, make_numbers()
        self._threads: list[SearchThread] = []
        self.set_threads(threads)
        self._took_long = False
        self._searched = False
        self._searched_rules = self.rules, False

    @property
    def cp_per_logit(self) -> float:
        """The network's scale."""
        return self.network.cp_per_logit

    def set_threads(self, count: int) -> None:
        """Use `count` threads.

        Raises ValueError outside 1 to 64, MemoryError if they do not fit; then the number of threads stays.
        """
        check_threads(count)
        more = [SearchThread(self.network, self.table) for _ in range(len(self._threads), count)]
        self._threads = self._threads[:count] + more

    def set_hash(self, megabytes: int) -> None:
        """Use a new table of this size. Raises MemoryError if it does not fit and ValueError for an impossible size;
        then the old table stays."""
        self.use_table(TranspositionTable(megabytes))

    def use_table(self, table: TranspositionTable) -> None:
        """Use another, empty table; forget everything else learnt, too."""
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
        """Use another network; `fv_scale` is the divisor of an nn.bin, `architecture` YaneuraOu's name of it.

        Raises OSError or ValueError if it cannot be read, MemoryError if it does not fit; then the old network stays.
        """
        network = network if isinstance(network, EvalNetwork) else load_network(network, fv_scale, architecture)
        sums = [Accumulators(network) for _ in self._threads]
        self.network = network
        for thread, accumulators in zip(self._threads, sums, strict=True):
            thread.accumulators = accumulators
        self.new_game()

    def new_game(self) -> None:
        """Forget everything learnt from earlier searches."""
        if not self._searched:
            return  # clearing would touch every page of a table that the system has not backed yet
        self._searched = False
        self.table.clear()
        for thread in self._threads:
            thread.clear()

    def limit(self, budget: Budget | None, start: float | None = None) -> None:
        """Set the budget as every engine does; the search also reads the clock itself where it can."""
        start = time.perf_counter() if start is None else start
        self._threads[0].record["deadline"] = 0 if budget is None else ticks_at(budget.end(start))
        super().limit(budget, start)

    def stop(self) -> None:
        """End the search under way within about a millisecond."""
        super().stop()
        for thread in self._threads:
            thread.record["stop"] = 1

    def _find_lines(self, limits: Limits, on_report: OnReport | None, on_progress: OnProgress | None) -> list[Analysis]:
        begun = time.perf_counter()
        roots = root_moves(self.position, limits.moves)
        partial = bool(limits.moves) and len(np.setdiff1d(root_moves(self.position), roots)) > 0
        rules = self.rules, limits.analysis
        if self._searched and rules != self._searched_rules:
            # Stored scores and corrections hold for other draw values, or for other rules that end a game: an analysis
            # judges repetitions of the game's positions otherwise than play.
            self.table.clear()
            for thread in self._threads:
                thread.clear_corrections()
        self._searched, self._searched_rules = True, rules
        grow_before(self.table)
        self.table.new_search()
        for number, thread in enumerate(self._threads):
            copy_position(thread.position, self.position)
            self._prepare(thread, roots, partial, limits)
            thread.record["depth"] = number % 2  # threads begin at different depths
        if self._stopped.is_set():
            self.stop()
        others = [] if limits.one_thread else self._threads[1:]
        helpers = [started(threading.Thread(target=_call_of(thread, MAX_PLY - 1))) for thread in others]
        self._took_long = False
        reporter = _ProgressReporter(on_progress and (lambda: on_progress(self._progress(begun))), begun)
        try:
            lines = min(self.multipv, len(roots))
            last = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
            if lines == 1:
                found = [self._find_one_line(begun, last, on_report, reporter)]
            else:
                found = self._find_several_lines(begun, last, lines, on_report, reporter)
        finally:
            reporter.end()
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
        sharing = 1 if limits.one_thread else len(self._threads)
        record["node_limit"] = 0 if limits.nodes is None else max(1, limits.nodes // sharing)
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

    def _find_one_line(
        self, begun: float, last: int, on_report: OnReport | None, reporter: _ProgressReporter
    ) -> Analysis:
        thread = self._threads[0]
        record = thread.record
        record["pause"] = REPORTED_NODES
        before, reported = 0, Analysis(None, 0)
        while True:
            self._run_first_thread(last)
            depth = int(record["depth"])
            ended = (
                depth == before
                or depth >= last
                or bool(record["stop"])
                or self._enough(record, depth, int(record["score"]), 1)
            )
            if on_report is not None and (found := list(self._depths_to_report(reported, begun, ended))):
                on_report(found, ended)
                reported = found[-1]
            if ended:
                break
            before = depth
            self._grow()
            reporter.begin()
        return self._outcome(begun, thread)

    def _grow(self) -> None:
        """Use more of the table if the part in use is full."""
        budget, elapsed = self.clock.read()
        while grow_within(self.table, None if budget is None else budget.maximum - elapsed):
            for thread in self._threads:
                thread.record["table"]["clusters"] = self.table.record["clusters"]

    def _run_first_thread(self, last: int) -> None:
        """Continue the first thread's search, at most to this depth."""
        begun, work = time.perf_counter(), _call_of(self._threads[0], last)
        if self._took_long:
            run_beside(work, self.stop)
        else:
            work()
        self._took_long = time.perf_counter() - begun > QUIET_SECONDS

    def _outcome(self, begun: float, thread: SearchThread) -> Analysis:
        """Return the result of a thread's search."""
        record = thread.record
        if cut_found_better(record):
            line = record["pv"][0][: record["pv_length"][0]]
            length = legal_length(thread.position, line, np.int64(len(line)))
            depth, seldepth, score = (int(record[name]) for name in ("root_depth", "seldepth", "pv_score"))
            return self._report(begun, depth, seldepth, score, line[:length])
        return self._finished(begun, record)

    def _depths_to_report(self, reported: Analysis, begun: float, ended: bool) -> Iterator[Analysis]:
        """Yield the results of the depths after the last reported one; none while a clock runs and no report is due.

        The search has returned after the last of them; the time of each is estimated from its nodes.
        """
        is_due = ended or _since(begun) >= reported.milliseconds + REPORT_MILLISECONDS
        if not is_due and self.clock.read()[0] is not None:
            return
        record, first = self._threads[0].record, reported.depth + 1
        others = self._nodes() - int(record["nodes"])
        pace = (_since(begun) - reported.milliseconds) / max(1, self._nodes() - reported.nodes)
        hashfull = self.table.hashfull()
        found = record["found"][first : record["depth"] + 1].tolist()
        for depth, (nodes, score, seldepth, length, line) in enumerate(found, first):
            yield self._analysis(
                line[:length].tolist(),
                score,
                depth=depth,
                seldepth=seldepth,
                nodes=nodes + others,
                milliseconds=reported.milliseconds + int(pace * (nodes + others - reported.nodes)),
                hashfull=hashfull,
            )

    def _finished(self, begun: float, record: np.void) -> Analysis:
        """Return the result of the last depth that a thread has finished."""
        depth = int(record["depth"])
        seldepth = int(record["found"][depth]["seldepth"])  # the record's own may be of an interrupted one
        line = record["line"][: record["line_length"]]
        return self._report(
            begun, depth, seldepth, int(record["score"]), line if len(line) else record["root_moves"][:1]
        )

    def _find_several_lines(
        self, begun: float, last: int, lines: int, on_report: OnReport | None, reporter: _ProgressReporter
    ) -> list[Analysis]:
        """Find several lines (MultiPV): at each depth the best move, then the best of the others, and so on.

        After an interrupted depth its lines come first, followed by those of the depth before.
        """
        thread = self._threads[0]
        record = thread.record
        scores = [0] * lines
        best = [self._finished(begun, record)]
        for depth in range(1, last + 1):
            found = []
            for index in range(lines):
                record["root_first"], record["depth"], record["score"] = index, depth - 1, scores[index]
                self._run_first_thread(depth)
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
            if is_whole and on_report is not None:
                on_report(found, False)
            if record["stop"] or self._enough(record, depth, best[0].score, lines):
                break
            self._grow()
            reporter.begin()
        nodes, milliseconds = self._nodes(), _since(begun)
        best = [
            replace(line, rank=rank, nodes=nodes, milliseconds=milliseconds)
            for rank, line in enumerate(best[:lines], 1)
        ]
        if not is_whole and on_report is not None:  # readers keep the last line of each rank
            on_report([line for line in best if line.depth], True)
        return best

    def _ranked(self, found: list[Analysis], begun: float) -> list[Analysis]:
        """Sort the lines of one depth, best first, and give all of them the nodes and the time of the whole depth."""
        nodes, milliseconds = self._nodes(), _since(begun)
        found.sort(key=lambda line: -line.score)
        return [replace(line, rank=rank, nodes=nodes, milliseconds=milliseconds) for rank, line in enumerate(found, 1)]

    def _enough(self, record: np.void, depth: int, score: int, lines: int) -> bool:
        """Whether another iteration would gain too little to begin it.

        With several lines a reader wants to compare them, so how settled the move is does not count.
        """
        budget, elapsed = self.clock.read()
        if budget is None or elapsed < budget.minimum:
            return False
        if record["root_count"] == 1 and depth >= 4:
            return True
        # A mate found at a depth beyond its length will not get shorter.
        if is_mate(score) and depth > abs(mate_plies(score)) + 2:
            return True
        return budget.is_enough(elapsed, settling(record) if lines == 1 and not budget.is_fixed else 1)

    def _nodes(self) -> int:
        return sum(int(thread.record["nodes"]) for thread in self._threads)

    def _report(self, begun: float, depth: int, seldepth: int, score: int, line: np.ndarray) -> Analysis:
        """Return the analysis of a legal line (uint16 moves) with its score and the current counters."""
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


class _ProgressReporter:
    """Reports progress once per second from a thread of its own, because a depth may take minutes."""

    def __init__(self, report: Callable[[], None] | None, begun: float) -> None:
        self._report = report
        self._begun = begun
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start reporting if there is a listener and the search is old enough."""
        if self._report is not None and self._thread is None and time.perf_counter() - self._begun > QUIET_SECONDS:
            self._thread = started(threading.Thread(target=self._run, args=(self._report,)))

    def _run(self, report: Callable[[], None]) -> None:
        while not self._done.wait(PROGRESS_SECONDS):
            report()

    def end(self) -> None:
        """Stop reporting."""
        if self._thread is not None:
            self._done.set()
            self._thread.join()


def _since(begun: float) -> int:
    """Milliseconds since `begun`, a `time.perf_counter()`."""
    return int((time.perf_counter() - begun) * 1000)


def _call_of(thread: SearchThread, last: int) -> Callable[[], None]:
    """Return a call of `deepen` for a thread, to this depth."""
    sums = thread.accumulators
    return partial(deepen, thread.position, thread.record, sums.record, sums.network, np.int64(last))


def _put_first(record: np.void, firsts: list[str]) -> None:
    """Move the best lines' first moves to the front of the root moves, in their order."""
    count = int(record["root_count"])
    lead = [move_from_usi(usi) for usi in firsts]
    rest = [int(move) for move in record["root_moves"][:count] if int(move) not in lead]
    record["root_moves"][:count] = lead + rest
