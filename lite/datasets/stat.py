"""Describe the content of data files: numbers of games and positions, results, scores, duplicates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lite.datasets.chunks import Chunk, ChunkReader, data_files, file_format
from lite.datasets.description import describe_sources
from lite.datasets.duplicates import DistinctHashes
from lite.notation.game import MATE_SCORE
from lite.records.encode import game_hashes, position_hashes
from lite.records.file import Refusals
from lite.records.formats import BLACK_WINS, DECLARATION, DRAW, MOVE_LIMIT, NO_GAME, SENNICHITE, WHITE_WINS, WINNER_MASK
from lite.run_folder import Provenance
from search.rules.shogi import EMPTY

SCORE_BOUNDS = (100, 300, 600, 1200, 2400)
"""Absolute scores in centipawns for which the share of larger ones is reported."""
_MATE_FROM = MATE_SCORE - 1000
"""Smallest absolute score that counts as a mate: most programs write 32000 minus the plies to mate."""
_PERCENTS = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class DataSummary:
    """The content of data files."""

    files: list[str]
    """Paths of all files."""
    formats: list[str]
    """Formats that occur."""
    bytes: int
    """Total size of the files in bytes."""
    descriptions: dict[str, Provenance]
    """Provenance of generated data by folder."""
    records_read: int
    """Records read: positions of hcpe and psv, games of other formats."""
    refused: dict[str, int]
    """Number of unusable records by reason."""
    first_refused: list[str]
    """The first refused records, each with file, place and reason."""
    games: int
    """Number of good games."""
    positions: int
    """Number of good positions."""
    results_of: str
    """`games` if all files hold games, otherwise `positions`: the unit of `results`."""
    results: dict[str, int]
    """Counts by result."""
    duplicate_positions: int
    """Positions that equal an earlier one."""
    duplicates_estimated: bool
    """Whether the numbers of duplicates are estimates, for very large files."""
    in_check: float
    """Share of positions in which the side to move is in check."""
    with_move: float
    """Share of positions with a move."""
    without_score: int
    """Number of positions without a score."""
    abs_score: dict[str, float]
    """Absolute score of the scored positions: percentiles `p5` to `p95` in centipawns (none without scored positions),
    the share `over_100` and so on, and the shares `mate` and `zero`."""
    score_sign_agrees_with_result: float | None
    """Share of decided positions whose score has the sign of the result; None without such positions."""
    pieces_on_board: dict[str, int]
    """Percentiles of the number of pieces on the board."""
    plies: dict[str, int] | None
    """Percentiles of the number of moves per game; None without games."""
    duplicate_games: int | None
    """Games that equal an earlier one; None without games."""
    candidates_per_move: float | None
    """Mean number of candidates per move; None without games."""


class _Histogram:
    """Counts of small integers, for exact quantiles in bounded memory."""

    def __init__(self, largest: int) -> None:
        self.counts = np.zeros(largest + 1, np.int64)

    def add(self, values: np.ndarray) -> None:
        """Count values from 0 to `largest`."""
        self.counts += np.bincount(values, minlength=len(self.counts))

    def percentiles(self) -> dict[str, int]:
        """Return the percentiles as `p5` to `p95`; empty without values."""
        total = int(self.counts.sum())
        if not total:
            return {}
        below = np.cumsum(self.counts)
        return {f"p{percent}": int(np.searchsorted(below, total * percent / 100)) for percent in _PERCENTS}

    def share(self, above: int) -> float:
        """Return the share of values larger than `above`."""
        return float(self.counts[above + 1 :].sum() / max(1, self.counts.sum()))


class _Totals:
    """Counts over the chunks of all files."""

    def __init__(self) -> None:
        self._results, self._game_results = Counter[str](), Counter[str]()
        self._plies, self._scores, self._pieces = _Histogram(1 << 16), _Histogram(1 << 15), _Histogram(40)
        self._positions_seen, self._games_seen = DistinctHashes(), DistinctHashes()
        self._games = self._positions = self._candidates = 0
        self._in_check = self._unscored = self._moves = 0
        self._agreeing = self._decided = 0
        self._all_games = True

    def add(self, chunk: Chunk) -> None:
        """Count a chunk's positions and games."""
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

    def summary(self, files: list[Path], descriptions: dict[Path, Provenance], refusals: Refusals) -> DataSummary:
        """Return the totals with the files that they were counted from."""
        games, positions, scores, plies = self._games, self._positions, self._scores, self._plies
        all_moves = int(plies.counts @ np.arange(len(plies.counts)))
        return DataSummary(
            files=[str(path) for path in files],
            formats=sorted({file_format(path) for path in files}),
            bytes=sum(path.stat().st_size for path in files),
            descriptions={str(folder): description for folder, description in descriptions.items()},
            records_read=refusals.read,
            refused=dict(refusals.reasons.most_common()),
            first_refused=refusals.named,
            games=games,
            positions=positions,
            results_of="games" if self._all_games else "positions",
            results=dict((self._game_results if self._all_games else self._results).most_common()),
            duplicate_positions=max(0, positions - self._positions_seen.count()),
            duplicates_estimated=not (self._positions_seen.exact and self._games_seen.exact),
            in_check=self._in_check / max(1, positions),
            with_move=self._moves / max(1, positions),
            without_score=self._unscored,
            abs_score={
                **scores.percentiles(),
                **{f"over_{bound}": scores.share(bound) for bound in SCORE_BOUNDS},
                "mate": scores.share(_MATE_FROM - 1),
                "zero": float(scores.counts[0] / max(1, positions - self._unscored)),
            },
            score_sign_agrees_with_result=self._agreeing / self._decided if self._decided else None,
            pieces_on_board=self._pieces.percentiles(),
            plies=plies.percentiles() if games else None,
            duplicate_games=max(0, games - self._games_seen.count()) if games else None,
            candidates_per_move=self._candidates / max(1, all_moves) if games else None,
        )


def describe(inputs: tuple[Path, ...], check_moves: bool = True) -> DataSummary:
    """Read all files and return a summary of their content. Raises OSError or ValueError."""
    files = data_files(inputs)
    descriptions = describe_sources(files)
    reader, totals = ChunkReader(files, check_moves), _Totals()
    for chunk in reader:
        totals.add(chunk)
    return totals.summary(files, descriptions, reader.refusals)


def _count_results(results: Counter[str], codes: np.ndarray) -> None:
    """Add the result bytes to the counts by name."""
    for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
        results[result_name(int(code))] += int(count)


def result_name(code: int) -> str:
    """Return the name of a result byte, such as `black wins by declaration` or `draw by sennichite`."""
    if code & NO_GAME:
        return "no game behind it"
    winner = code & WINNER_MASK
    name = "draw" if winner == DRAW else "black wins" if winner == BLACK_WINS else "white wins"
    kinds = {SENNICHITE: "sennichite", DECLARATION: "declaration", MOVE_LIMIT: "move limit"}
    how = " and ".join(word for bit, word in kinds.items() if code & bit)
    return f"{name} by {how}" if how else name
