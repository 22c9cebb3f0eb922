"""The options of a conversion, their check, and warnings about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from lite.datasets.chunks import file_format, holds_games
from lite.notation.games import game_format
from lite.records.formats import HCPE3, PSV, WRITTEN_SUFFIXES, record_format
from search.system.bounds import check_choice, check_number, check_numbers
from search.system.files import check_output
from search.system.options import OptionError
from search.system.paths import take_paths

LeaveOut = Literal["draw", "sennichite", "declaration", "move-limit"]
Duplicates = Literal["keep", "drop", "merge"]


@dataclass(frozen=True)
class Conversion:
    """Options of a conversion: inputs, outputs and filters."""

    inputs: tuple[Path, ...]
    """Game and record files, or directories with such files at any depth: .csa .kif .kifu .ki2 .ki2u .usi .sfen .hcpe
    .hcpe3 .psv .pack. Files .txt (games) and .bin (psv) are read only if they are given themselves."""
    output: Path
    """File to write; the suffix decides the format. Missing directories are made."""
    test_share: float | None = None
    """Share to hold out for testing: whole games, or single positions if the input has no games. The output
    all.hcpe3 becomes all.train.hcpe3 and all.test.hcpe3."""
    test_output: Path | None = None
    """File for the held-out share, in the same format as the output; the share defaults to a tenth."""
    seed: int = 0
    """Random seed for the choice of the held-out games."""
    min_rating: float | None = None
    """Minimum rating of both players, from floodgate's CSA files. Games without ratings are left out."""
    min_plies: int = 0
    """Minimum number of moves of a game."""
    max_plies: int | None = None
    """Maximum number of moves of a game."""
    leave_out: tuple[LeaveOut, ...] = ()
    """Endings of games to leave out."""
    from_ply: int = 0
    """Leave out positions before this ply (positions of unknown ply are kept)."""
    skip_in_check: bool = False
    """Leave out positions in which the side to move is in check."""
    max_score: int | None = None
    """Leave out positions with a larger absolute score, in centipawns."""
    require_score: bool = False
    """Leave out positions without a score."""
    duplicates: Duplicates = "keep"
    """Treatment of equal positions (in hcpe3: equal games): keep all, drop all except the first, or merge them into one
    with their mean score and most frequent game result."""
    check_moves: bool = True
    """Refuse hcpe and psv records with an illegal move. Otherwise only the move is dropped (for data whose positions
    were replaced after the search)."""
    overwrite: bool = False
    """Replace existing files."""

    def __post_init__(self) -> None:
        take_paths(self)
        if isinstance(self.leave_out, str):  # one word instead of a tuple, as one path instead of several
            object.__setattr__(self, "leave_out", (self.leave_out,))


def output_paths(options: Conversion) -> list[Path]:
    """Return the files to write: one, or one for training and one for testing."""
    path = options.output
    if options.test_output is not None:
        return [path, options.test_output]
    if options.test_share is not None:
        return [path.with_name(f"{path.stem}.{part}{path.suffix}") for part in ("train", "test")]
    return [path]


def check(options: Conversion, files: list[Path]) -> None:
    """Raise ValueError or OSError for options that cannot be used, before anything is read."""
    check_choice("duplicates", options.duplicates, get_args(Duplicates))
    for name in options.leave_out:
        check_choice("leave_out", name, get_args(LeaveOut))
    paths = output_paths(options)
    for path in paths:
        check_output(path, WRITTEN_SUFFIXES, options.overwrite, files)
        if record_format(path) == HCPE3 and options.duplicates == "merge":
            raise OptionError(
                f"`duplicates` merge: {path} holds whole games, which cannot be merged; drop duplicates, or write hcpe "
                "or psv",
                "duplicates",
            )
    if len(paths) == 2 and paths[0].resolve() == paths[1].resolve():
        raise OptionError(f"`test_output` {paths[1]}: must be another file than `output`", "test_output", "output")
    if record_format(paths[-1]) != record_format(paths[0]):
        raise OptionError(
            f"`test_output` {paths[1]}: must have the format of `output`; name it {paths[1].stem}{paths[0].suffix}",
            "test_output",
            "output",
        )
    if options.test_share is not None and not 0.0 < options.test_share < 1.0:
        raise OptionError(f"`test_share` {options.test_share}: must be between 0 and 1", "test_share")
    check_numbers(options, "min_plies", "max_plies", "from_ply", "max_score", least=0)
    check_number("seed", options.seed, least=0, most=None)
    if options.min_rating is not None and (bad := [path for path in files if game_format(path) is None]):
        raise OptionError(
            f"`min_rating` {options.min_rating:g}: {bad[0]} holds records, which have no ratings; give CSA games",
            "min_rating",
        )
    if bad := [path for path in files if not holds_games(path)]:
        for option in ("min_plies", "max_plies"):
            if (plies := getattr(options, option)) != getattr(Conversion, option):
                raise OptionError(f"`{option}` {plies}: {bad[0]} holds single positions, not games", option)


def warnings_of(options: Conversion, files: list[Path]) -> list[str]:
    """Return warnings about combinations of inputs and options that may mislead."""
    lines = []
    flat = [path for path in files if not holds_games(path)]
    if len(output_paths(options)) == 2 and flat:
        lines.append(
            f"{flat[0].name}{' and others' if len(flat) > 1 else ''}: positions without their games are split by "
            "position, so both parts hold positions of the same games, and accuracy on the test file is too high"
        )
    if flat and record_format(options.output) == HCPE3:
        lines.append("positions without their games become games of one move")
    if any(file_format(path) == PSV for path in files) and set(options.leave_out) - {"draw"}:
        lines.append("psv does not record how a game ended, so only draws can be left out of it")
    return lines
