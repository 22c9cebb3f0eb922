"""What data files hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lite.datasets.chunks import Chunk, ChunkReader, data_files, file_format
from lite.datasets.description import describe_sources
from lite.datasets.duplicates import DistinctHashes
from lite.notation.game import MATE_SCORE
from lite.records.encode import game_hashes, position_hashes
from lite.records.formats import BLACK_WINS, DECLARATION, DRAW, MOVE_LIMIT, NO_GAME, SENNICHITE, WHITE_WINS, WINNER_MASK
from search.rules.shogi import EMPTY

SCORE_BOUNDS = (100, 300, 600, 1200, 2400)
_MATE_FROM = MATE_SCORE - 1000
"""|score| from here on is taken for a mate found: 32000 less the plies to it in most writers."""
_PERCENTS = (5, 25, 50, 75, 95)


class _Histogram:
    """Counts of small integers, for exact quantiles in bounded memory."""

    def __init__(self, largest: int) -> None:
        self.counts = np.zeros(largest + 1, np.int64)

    def add(self, values: np.ndarray) -> None:
        self.counts += np.bincount(values, minlength=len(self.counts))

    def percentiles(self) -> dict[str, int]:
        total = int(self.counts.sum())
        if not total:
            return {}
        below = np.cumsum(self.counts)
        return {f"p{percent}": int(np.searchsorted(below, total * percent / 100)) for percent in _PERCENTS}

    def share(self, above: int) -> float:
        """The share of values larger than `above`."""
        return float(self.counts[above + 1 :].sum() / max(1, self.counts.sum()))


class _Figures:
    """What the chunks of files add up to."""

    def __init__(self) -> None:
        self._results, self._game_results = Counter[str](), Counter[str]()
        self._plies, self._scores, self._pieces = _Histogram(1 << 16), _Histogram(1 << 15), _Histogram(40)
        self._positions_seen, self._games_seen = DistinctHashes(), DistinctHashes()
        self._games = self._positions = self._candidates = 0
        self._in_check = self._unscored = self._moves = 0
        self._agreeing = self._decided = 0
        self._all_games = True

    def add(self, chunk: Chunk) -> None:
        """Count a chunk's positions, and its games where it has such."""
        found = chunk.positions
        self._positions += len(found)
        self._in_check += int(found["in_check"].sum())
        score = found["score"].astype(np.int64)
        self._unscored += int((~found["scored"]).sum())
        self._scores.add(np.abs(score[found["scored"]]))
        self._pieces.add((found["pieces"] != EMPTY).sum(1))
        judged = (found["result"] != 0.5) & (score != 0)
        self._decided += int(judged.sum())
        self._agreeing += int(((score > 0) == (found["result"] > 0.5))[judged].sum())
        self._moves += int((found["move"] != 0).sum())
        self._positions_seen.add(position_hashes(found))
        black = (found["result"] > 0.5) == (found["turn"] == 0)
        winner = np.where(found["result"] == 0.5, DRAW, np.where(black, BLACK_WINS, WHITE_WINS))
        _count_results(self._results, winner | found["kind_of_result"])
        if chunk.games is None:
            self._all_games = False
            return
        self._games += len(chunk.games.starts)
        self._plies.add(chunk.games.plies)
        self._candidates += int(chunk.games.candidates.sum())
        self._games_seen.add(game_hashes(chunk.games.raw, chunk.games.starts))
        _count_results(self._game_results, chunk.games.results)

    def report(self) -> dict[str, Any]:
        """As one object; of games alone where all files hold such."""
        games, positions, scores = self._games, self._positions, self._scores
        report: dict[str, Any] = {
            "games": games,
            "positions": positions,
            "results_of": "games" if self._all_games else "positions",
            "results": dict((self._game_results if self._all_games else self._results).most_common()),
            "duplicate_positions": max(0, positions - self._positions_seen.count()),
            "duplicates_estimated": not (self._positions_seen.exact and self._games_seen.exact),
            "in_check": self._in_check / max(1, positions),
            "with_move": self._moves / max(1, positions),
            "without_score": self._unscored,
            "abs_score": {
                **scores.percentiles(),
                **{f"over_{bound}": scores.share(bound) for bound in SCORE_BOUNDS},
                "mate": scores.share(_MATE_FROM - 1),
                "zero": float(scores.counts[0] / max(1, positions - self._unscored)),
            },
            "score_sign_agrees_with_result": self._agreeing / self._decided if self._decided else None,
            "pieces_on_board": self._pieces.percentiles(),
        }
        if games:
            plies = self._plies
            report |= {
                "plies": plies.percentiles(),
                "duplicate_games": max(0, games - self._games_seen.count()),
                "candidates_a_move": self._candidates / max(1, int(plies.counts @ np.arange(len(plies.counts)))),
            }
        return report


def describe(inputs: tuple[Path, ...], check_moves: bool = True) -> dict[str, Any]:
    """The figures as one object. Raises OSError or ValueError in words."""
    files = data_files(inputs)
    descriptions = describe_sources(files)
    reader, figures = ChunkReader(files, check_moves), _Figures()
    for chunk in reader:
        figures.add(chunk)
    return {
        "files": [str(path) for path in files],
        "formats": sorted({file_format(path) for path in files}),
        "bytes": sum(path.stat().st_size for path in files),
        "descriptions": {str(folder): description for folder, description in descriptions.items()},
        **reader.refusals.figures(),
        **figures.report(),
    }


def _count_results(results: Counter[str], codes: np.ndarray) -> None:
    for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
        results[result_name(int(code))] += int(count)


def result_name(code: int) -> str:
    """A result byte in words: `black wins by declaration`, `draw by sennichite`."""
    if code & NO_GAME:
        return "no game behind it"
    winner = code & WINNER_MASK
    name = "draw" if winner == DRAW else "black wins" if winner == BLACK_WINS else "white wins"
    kinds = {SENNICHITE: "sennichite", DECLARATION: "declaration", MOVE_LIMIT: "move limit"}
    how = " and ".join(word for bit, word in kinds.items() if code & bit)
    return f"{name} by {how}" if how else name
