"""What data files hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lite.datasets.chunks import ChunkReader, data_files, file_format
from lite.datasets.description import describe_sources
from lite.datasets.duplicates import DistinctHashes
from lite.notation.game import MATE_SCORE
from lite.records.encode import game_hashes, position_hashes
from lite.records.formats import BLACK_WINS, DECLARATION, DRAW, MOVE_LIMIT, NO_GAME, SENNICHITE, WHITE_WINS, WINNER_MASK

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


def describe(inputs: tuple[Path, ...], check_moves: bool = True) -> dict[str, Any]:
    """The figures as one object. Raises OSError or ValueError in words."""
    files = data_files(inputs)
    descriptions = describe_sources(files)
    reader = ChunkReader(files, check_moves)
    results, game_results = Counter[str](), Counter[str]()
    plies, scores, pieces = _Histogram(1 << 16), _Histogram(1 << 15), _Histogram(40)
    positions_seen, games_seen = DistinctHashes(), DistinctHashes()
    games = positions = in_check = agreeing = decided = moves = candidates = unscored = 0
    all_games = True
    for chunk in reader:
        found = chunk.positions
        positions += len(found)
        in_check += int(found["in_check"].sum())
        score = found["score"].astype(np.int64)
        unscored += int((~found["scored"]).sum())
        scores.add(np.minimum(np.abs(score[found["scored"]]), 1 << 15))
        pieces.add(np.minimum((found["pieces"] != 28).sum(1), 40))
        judged = (found["result"] != 0.5) & (score != 0)
        decided += int(judged.sum())
        agreeing += int(((score > 0) == (found["result"] > 0.5))[judged].sum())
        moves += int((found["move"] != 0).sum())
        positions_seen.add(position_hashes(found))
        black = (found["result"] > 0.5) == (found["turn"] == 0)
        winner = np.where(found["result"] == 0.5, DRAW, np.where(black, BLACK_WINS, WHITE_WINS))
        _count_results(results, winner | found["kind_of_result"])
        if chunk.games is None:
            all_games = False
        else:
            games += len(chunk.games.starts)
            plies.add(chunk.games.plies)
            candidates += int(chunk.games.candidates.sum())
            games_seen.add(game_hashes(chunk.games.raw, chunk.games.starts))
            _count_results(game_results, chunk.games.results)
    report: dict[str, Any] = {
        "files": [str(path) for path in files],
        "formats": sorted({file_format(path) for path in files}),
        "bytes": sum(path.stat().st_size for path in files),
        "descriptions": {str(folder): description for folder, description in descriptions.items()},
        "records_read": reader.refusals.read,
        "refused": dict(reader.refusals.reasons.most_common()),
        "first_refused": reader.refusals.named,
        "games": games,
        "positions": positions,
        "results_of": "games" if all_games else "positions",
        "results": dict((game_results if all_games else results).most_common()),
        "duplicate_positions": max(0, positions - positions_seen.count()),
        "duplicates_estimated": not (positions_seen.exact and games_seen.exact),
        "in_check": in_check / max(1, positions),
        "with_move": moves / max(1, positions),
        "without_score": unscored,
        "abs_score": {
            **scores.percentiles(),
            **{f"over_{bound}": scores.share(bound) for bound in SCORE_BOUNDS},
            "mate": scores.share(_MATE_FROM - 1),
            "zero": float(scores.counts[0] / max(1, positions - unscored)),
        },
        "score_sign_agrees_with_result": agreeing / decided if decided else None,
        "pieces_on_board": pieces.percentiles(),
    }
    if games:
        report |= {
            "plies": plies.percentiles(),
            "duplicate_games": max(0, games - games_seen.count()),
            "candidates_a_move": candidates / max(1, int(plies.counts @ np.arange(len(plies.counts)))),
        }
    return report


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
