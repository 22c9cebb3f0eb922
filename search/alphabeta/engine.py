"""The engine: iterative deepening over the jitted search, in Python, where there is time to look at the clock.

One iteration is one call of compiled code that holds no lock, so a timer or another thread can set its stop flag. With
several threads the others search the same position at other depths into the shared table (lazy SMP); only the first
one's result counts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from search.alphabeta.parameters import ASPIRATION, EVERY_STEP, make_parameters
from search.alphabeta.root import search_root
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.clock import Budget
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.rules.declaration import RULE_27, TRY_RULE, can_declare, try_move
from search.rules.movegen import EVERY, MAX_MOVES, QUIET, TACTICAL, generate, is_legal
from search.rules.position import STACK, copy_position, do_move
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, set_sfen
from search.score import INFINITE, MATE, MAX_PLY, is_mate, mate_plies, win_rate

ASPIRATION_MARGIN = 22
"""Half width of the first window around the last score, centipawns."""
LONGEST_GAME = STACK - MAX_PLY - 8
"""Moves of a game that a position record holds, with room for the search on top."""
FIRST_NODES = 20_000
"""Nodes that the first iteration may take although the search has been stopped; a few milliseconds."""
LONGEST_WAIT = 1e6
"""Seconds; what a timer is given at most."""
DECLARE = "win"
"""The move that declares a win."""


@dataclass(frozen=True)
class Analysis:
    """What a search found, from the mover's view."""

    best_move: str | None
    """USI move, `win` for a declaration, None where there is no legal move."""
    score: int
    """Centipawns, or a mate score (see `search.score`)."""
    ponder_move: str | None = None
    depth: int = 0
    """0: known without a search."""
    seldepth: int = 0
    nodes: int = 0
    milliseconds: int = 0
    hashfull: int = 0
    """Thousandths."""
    pv: tuple[str, ...] = ()
    rank: int = 1
    """1 for the best line, 2 for the second (MultiPV)."""
    win_rate: float = 0.5

    @property
    def nps(self) -> int:
        """Nodes a second of wall time."""
        return self.nodes * 1000 // max(1, self.milliseconds)

    @property
    def score_text(self) -> str:
        """As USI writes it: `cp 34` or `mate -6`."""
        return f"mate {mate_plies(self.score)}" if is_mate(self.score) else f"cp {self.score}"


@dataclass(frozen=True)
class Rules:
    """What ends a game besides mate, and what draws are worth to the engine's side."""

    declaration: int = RULE_27
    max_moves: int = 0
    """Move number after which the game is drawn, 0: never."""
    draw_value: tuple[int, int] = (0, 0)
    """Centipawns of a draw by repetition to black and white."""


class Engine:
    """Searches positions with a network. One search at a time; `stop` may be called from any thread."""

    def __init__(self, network: EvalNetwork | Path | str = "default", hash_mb: int = 64, threads: int = 1) -> None:
        """`network` is a loaded one, a path, or `default`. Raises OSError, ValueError or MemoryError in words."""
        self.network = network if isinstance(network, EvalNetwork) else load_network(network)
        self.table = TranspositionTable(hash_mb)
        self.rules = Rules()
        self.multi_pv = 1
        self.steps, self.parameters = EVERY_STEP, make_parameters()
        self._threads: list[SearchThread] = []
        self.set_threads(threads)
        self._searched = False
        self._searched_rules = self.rules
        self._stopped = threading.Event()
        # The budget of the search under way, and what ends it; `limit` may change both from another thread.
        self._clock = threading.Lock()
        self._budget: Budget | None = None
        self._budget_start = 0.0
        self._budget_serial = 0
        self._timer: threading.Timer | None = None
        self.set_position("startpos")

    def set_threads(self, count: int) -> None:
        """Use so many threads (1 or more)."""
        while len(self._threads) < count:
            self._threads.append(SearchThread(self.network, self.table))
        del self._threads[count:]

    def set_hash(self, megabytes: int) -> None:
        """Another table; if it does not fit, MemoryError and the old one stays."""
        self.use_table(TranspositionTable(megabytes))

    def use_table(self, table: TranspositionTable) -> None:
        """Search with another table, an empty one."""
        self.table = table
        self._searched = False
        for thread in self._threads:
            thread.use_table(table)

    def set_network(self, network: EvalNetwork | Path | str, fv_scale: int | None = None) -> None:
        """Another network, with this divisor for an nn.bin; if it cannot be read, OSError or ValueError and the old
        one stays."""
        self.network = network if isinstance(network, EvalNetwork) else load_network(network, fv_scale)
        for thread in self._threads:
            thread.use_network(self.network)
        self.new_game()

    def new_game(self) -> None:
        """Forget everything learnt."""
        if not self._searched:
            return  # clearing would touch every page of a table that the system has not handed out yet
        self._searched = False
        self.table.clear()
        for thread in self._threads:
            thread.clear()

    def set_position(self, sfen: str, moves: Sequence[str] = ()) -> None:
        """The position to search; ValueError names the first move that is not legal, and the old position stays."""
        before = self.position.copy()
        try:
            self._walk(self.position, sfen, moves)
        except ValueError:
            copy_position(self.position, before)
            raise

    @staticmethod
    def _walk(pos: np.void, sfen: str, moves: Sequence[str]) -> None:
        set_sfen(pos, sfen)
        for number, usi in enumerate(moves, 1):
            if pos["ply"] >= LONGEST_GAME or (pos["ply"] and len(moves) - number + 1 == LONGEST_GAME):
                # More moves than a record holds: the last ones stay, what recurred before them is forgotten.
                set_sfen(pos, get_sfen(pos))
            move = move_from_usi(usi)
            if not is_legal(pos, np.int64(move)):
                raise ValueError(f"move {number}, {usi}, is not legal in {get_sfen(pos)}")
            do_move(pos, np.int64(move))

    @property
    def position(self) -> np.void:
        """The position that was set, a record of `search.rules.position.position_dtype`."""
        return self._threads[0].position

    def analyse(
        self,
        sfen: str,
        moves: Sequence[str] = (),
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time_ms: int | None = None,
        on_info: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Search a position (`startpos` or SFEN, and moves in USI) until the first limit; without one, depth 12."""
        self.set_position(sfen, moves)
        if nodes is None and depth is None and time_ms is None:
            depth = 12
        self.ready(None if time_ms is None else Budget(time_ms, time_ms))
        return self.search(nodes=nodes, depth=depth, on_info=on_info)

    def ready(self, budget: Budget | None = None, start: float | None = None) -> None:
        """Take back an earlier `stop` and start the clock: the next search runs, within the budget counted from `start`
        (a `time.perf_counter()`, now). To be called before another thread may call `stop` or `limit`."""
        self._stopped.clear()
        self.limit(budget, start)

    def stop(self) -> None:
        """End the search under way within a millisecond or so."""
        self._stopped.set()
        for thread in self._threads:
            thread.record["stop"] = 1

    def search(
        self,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        searchmoves: Sequence[str] = (),
        on_info: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Search the position that was set, after `ready`: to a depth, for so many nodes, or until its budget is used
        or `stop` is called. `searchmoves` (USI) leaves out all other moves; those that are not legal are passed over.
        """
        try:
            return self._decided() or self._search(nodes, depth, searchmoves, on_info)
        finally:
            self.limit(None)

    def _decided(self) -> Analysis | None:
        """What the rules settle without a search: a declaration, or that there is no legal move."""
        declared = self._declaration(self.position)
        if declared:
            return Analysis(declared, MATE - 1, pv=(declared,), win_rate=1.0)
        if not len(self._root_moves(self.position, ())):
            return Analysis(None, -MATE, win_rate=0.0)
        return None

    def _search(
        self,
        nodes: int | None,
        depth: int | None,
        searchmoves: Sequence[str],
        on_info: Callable[[Analysis], None] | None,
    ) -> Analysis:
        begun = time.perf_counter()
        main = self._threads[0]
        roots = self._root_moves(main.position, searchmoves)
        if self.rules != self._searched_rules:
            self.table.clear()  # its scores hold other values of a draw, or other ends of a game
        self._searched, self._searched_rules = True, self.rules
        self.table.new_search()
        for thread in self._threads:
            if thread is not main:
                copy_position(thread.position, main.position)
            self._prepare(thread, roots, nodes)
        if self._stopped.is_set():
            self.stop()
        helpers = [
            threading.Thread(target=self._help, args=(thread, number), daemon=True)
            for number, thread in enumerate(self._threads[1:], 1)
        ]
        for helper in helpers:
            helper.start()
        try:
            return self._deepen(main, begun, depth, on_info)
        finally:
            for thread in self._threads:
                thread.record["stop"] = 1
            for helper in helpers:
                helper.join()

    def limit(self, budget: Budget | None, start: float | None = None) -> None:
        """Give the search under way (or the one that begins) another budget, counted from `start` (now).

        A pondering search has none until the opponent's move has come. None takes the budget away.
        """
        start = time.perf_counter() if start is None else start
        with self._clock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._budget, self._budget_start = budget, start
            self._budget_serial += 1
            if budget is not None:
                wait = start + budget.maximum / 1000 - time.perf_counter()
                self._timer = threading.Timer(min(max(wait, 0.0), LONGEST_WAIT), self._expire, (self._budget_serial,))
                self._timer.daemon = True
                self._timer.start()

    def _expire(self, serial: int) -> None:
        """A timer's end; one that was cancelled too late must not stop the next search."""
        with self._clock:
            if serial == self._budget_serial:
                self.stop()

    def _declaration(self, pos: np.void) -> str | None:
        if can_declare(pos, np.int64(self.rules.declaration)):
            return DECLARE
        move = int(try_move(pos)) if self.rules.declaration == TRY_RULE else 0
        return move_to_usi(move) if move else None

    @staticmethod
    def _root_moves(pos: np.void, searchmoves: Sequence[str]) -> np.ndarray:
        buffer = np.zeros(MAX_MOVES, np.uint16)
        if searchmoves:
            wanted = {move_from_usi(move) for move in searchmoves}
            count = generate(pos, buffer, np.int64(0), np.int64(EVERY))
            found = [move for move in buffer[:count] if int(move) in wanted]
            if found:
                return np.array(found, np.uint16)
        count = generate(pos, buffer, np.int64(0), np.int64(TACTICAL | QUIET))
        if count == 0:
            count = generate(pos, buffer, np.int64(0), np.int64(EVERY))
        return buffer[:count].copy()

    def _prepare(self, thread: SearchThread, roots: np.ndarray, nodes: int | None) -> None:
        record = thread.record
        record["stop"] = 0
        record["steps"], record["parameters"] = self.steps, self.parameters
        record["nodes"] = 0
        record["node_limit"] = 0 if nodes is None else max(1, nodes // len(self._threads))
        record["root_moves"][: len(roots)] = roots
        record["root_count"] = len(roots)
        record["root_first"] = 0
        record["pv_length"][0] = 0
        record["table"] = self.table.record
        record["draw_value"] = self.rules.draw_value
        record["max_moves"] = self.rules.max_moves
        record["declaration_rule"] = self.rules.declaration

    def _help(self, thread: SearchThread, number: int) -> None:
        """A further thread: the same position, every other depth, until the first thread is done."""
        for depth in range(1 + number % 2, MAX_PLY):
            if thread.record["stop"] or self._stopped.is_set():
                return
            _iterate(thread, depth, -INFINITE, INFINITE)

    def _deepen(
        self,
        thread: SearchThread,
        begun: float,
        depth_limit: int | None,
        on_info: Callable[[Analysis], None] | None,
    ) -> Analysis:
        record = thread.record
        lines = min(self.multi_pv, int(record["root_count"]))
        scores = [0] * lines
        best = self._report(thread, begun, 0, 0, 0)
        for depth in range(1, min(depth_limit or MAX_PLY - 1, MAX_PLY - 1) + 1):
            found = []
            for index in range(lines):
                record["root_first"] = index
                record["pv_length"][0] = 0
                scores[index] = self._aspire(thread, depth, scores[index])
                if record["stop"] and depth == 1 and index == 0:
                    scores[index] = _look_once(thread)
                if record["stop"] and (depth > 1 or index > 0 or record["pv_length"][0] == 0):
                    break
                found.append(self._report(thread, begun, depth, scores[index], index))
            record["root_first"] = 0
            found.sort(key=lambda line: -line.score)
            for rank, line in enumerate(found, 1):
                found[rank - 1] = replace(line, rank=rank)
                if on_info and (len(found) == lines or rank == 1):
                    on_info(found[rank - 1])
            if found:
                best = found[0]
                scores[: len(found)] = [line.score for line in found]
                _put_first(record, [line.pv[0] for line in found])
            if record["stop"]:
                # An iteration that was cut may still have found a better first move.
                cut = self._report(thread, begun, depth, best.score, 0)
                if lines == 1 and cut.pv and cut.best_move != best.best_move and not found:
                    best = cut
                break
            if self._enough(record, depth, best):
                break
        elapsed = int((time.perf_counter() - begun) * 1000)
        return replace(best, nodes=self._nodes(), milliseconds=elapsed)

    def _aspire(self, thread: SearchThread, depth: int, last: int) -> int:
        """An iteration in a window around the last score, widened on the side where it fails."""
        if depth < 4 or is_mate(last) or not self.steps & ASPIRATION:
            return _iterate(thread, depth, -INFINITE, INFINITE)
        margin = ASPIRATION_MARGIN
        low, high = max(last - margin, -INFINITE), min(last + margin, INFINITE)
        while True:
            score = _iterate(thread, depth, low, high)
            if thread.record["stop"]:
                return score
            if score <= low:
                high, low = (low + high) // 2, max(score - margin, -INFINITE)
            elif score >= high:
                high = min(score + margin, INFINITE)
            else:
                return score
            margin *= 3
            if margin > 1500:
                low, high = -INFINITE, INFINITE

    def _enough(self, record: np.void, depth: int, best: Analysis) -> bool:
        """Whether another iteration is not worth beginning."""
        with self._clock:
            budget, start = self._budget, self._budget_start
        if budget is None:
            return False
        if record["root_count"] == 1 and depth >= 4:
            return True
        # A mate that is proved deeper than it is long will not get shorter.
        if is_mate(best.score) and depth > abs(mate_plies(best.score)) + 2:
            return True
        return budget.is_enough((time.perf_counter() - start) * 1000)

    def _nodes(self) -> int:
        return sum(int(thread.record["nodes"]) for thread in self._threads)

    def _report(self, thread: SearchThread, begun: float, depth: int, score: int, index: int) -> Analysis:
        record = thread.record
        line = [int(move) for move in record["pv"][0][: record["pv_length"][0]]]
        if not line:
            line = [int(record["root_moves"][index])]
        moves = _legal_line(thread.position, line)
        network = self.network
        return Analysis(
            best_move=moves[0],
            ponder_move=moves[1] if len(moves) > 1 else None,
            score=score,
            depth=depth,
            seldepth=int(record["seldepth"]),
            nodes=self._nodes(),
            milliseconds=int((time.perf_counter() - begun) * 1000),
            hashfull=self.table.hashfull(),
            pv=moves,
            win_rate=float(score > 0) if is_mate(score) else win_rate(score, network.cp_per_logit),
        )


def _iterate(thread: SearchThread, depth: int, alpha: int, beta: int) -> int:
    return int(
        search_root(
            thread.position,
            thread.record,
            thread.accumulators.record,
            thread.network_record,
            np.int64(depth),
            np.int64(alpha),
            np.int64(beta),
        )
    )


def _look_once(thread: SearchThread) -> int:
    """The first iteration again and to its end: however short the time, the move is not the first that comes along."""
    record = thread.record
    limit = int(record["node_limit"])
    record["stop"] = 0
    record["node_limit"] = int(record["nodes"]) + FIRST_NODES
    score = _iterate(thread, 1, -INFINITE, INFINITE)
    record["node_limit"] = limit
    record["stop"] = 1
    return score


def _legal_line(root: np.void, line: list[int]) -> tuple[str, ...]:
    """The moves of a line in USI, up to the first that is not legal (a table entry of another position)."""
    pos, moves = root.copy(), []
    for move in line:
        if not is_legal(pos, np.int64(move)):
            break
        moves.append(move_to_usi(move))
        do_move(pos, np.int64(move))
    return tuple(moves)


def _put_first(record: np.void, firsts: list[str]) -> None:
    """Order the root moves so that the best lines' moves lead, in their order."""
    count = int(record["root_count"])
    lead = [move_from_usi(usi) for usi in firsts]
    rest = [int(move) for move in record["root_moves"][:count] if int(move) not in lead]
    record["root_moves"][:count] = lead + rest
