"""The texts that every language must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Texts of one language. Braces hold the names of values; both languages use the same names.

    A table without one of the fields does not type-check and cannot be made. Mappings have the keys of the English
    table, which are the names in JSON output.
    """

    code: str
    """Language code of HTML: `en` or `ja`."""
    sides: tuple[str, str]
    """Names of black and white: those of an even game, until `words_for_game` puts in a game's."""
    results: Mapping[str, str]
    marks: Mapping[str, str]
    """Names of bad moves."""
    mark_headers: Mapping[str, str]
    """Names of bad moves above columns of numbers."""
    start: str
    lost: str
    best: str
    line: str
    """A line of a search; {number} counts from 1."""
    variation: str
    flip: str
    mate: str
    """A mate on the board."""
    black_mates: str
    """A mate in {plies} plies by black."""
    white_mates: str
    """A mate in {plies} plies by white."""
    counted_as_tsume: str
    """Remark on a mate that is {plies} plies long as tsume shogi counts it."""
    black_superior: str
    """Black repeats a position with more pieces in hand."""
    white_superior: str
    """White repeats a position with more pieces in hand."""
    won_by: Mapping[str, str]
    """A win by force that is no mate; {result} names the winner."""
    declaration: str
    mistakes: str
    no_mistakes: str
    next_mistake: str
    needs_script: str
    """The page's only text in a browser without JavaScript."""
    score: str
    win_rate: str
    move: str
    time: str
    compared: Mapping[str, str]
    """Source of a move's loss."""
    searched_ms: str
    """Engine and time; {engine}, {network}, {limit}."""
    searched_nodes: str
    """Engine and nodes; {engine}, {network}, {limit}."""
    win_rate_axis: str
    other_win_rate_axis: str
    score_axis: str
    """The picture's axis of scores, which ends at {limit}."""
    move_axis: str
    until: str
    """The picture's title of an unfinished analysis, up to move {ply}."""
    progress: str
    """One searched position: {score}, {rate}, {depth}."""
    time_left: str
    """The time left for a game: {clock}."""
    progress_game: str
    """The start of a game: {number}, {count}, {place}."""
    stopped: str
    """An interrupted analysis: {done}, {positions}."""
    stopped_writing: str
    """An interrupted analysis whose files are written: {done}, {positions}."""
    no_font: str
    summary_header: str
    """Names of the terminal's columns before the marks."""
    worst_move: str
    """A bad move: {ply}, {move}, {loss}, {mark}, {best}."""
    done_already: str
    """Number of games that were analysed before, {count}."""
    refused: str
    """A game that cannot be read, {reason}."""
    no_readable_game: str
    no_game_given: str
    needs_matplotlib: str
    output_is_input: str
    """The output {path} is the game itself."""
    no_game_file: str
    """No game file at {path}."""
    no_such_game: str
    """{path} has no game {number}."""
    output_is_file: str
    """The output {path} is a file, but there are several games."""
    output_taken: str
    """The output {output} of the game {path} belongs to another game."""
    explain_head: str
    """Evaluation of a position: {side}, {score}, {rate}, {draw}, {black}."""
    explain_draw: str
    """Probability of a draw, {draw}."""
    contributions: str
    impossible: str
    """Pieces {pieces} without which the position is not legal."""
    moves_head: str
    """Table of evaluations after a move; {which}."""
    best_moves: str
    """{shown} of {count} moves."""
    all_moves: str
    """All {count} moves."""
    units_head: str
    units: Mapping[str, str]
    """A file's or a rank's units, {name}."""
    no_units: Mapping[str, str]
    """Reasons why a network shows no units."""
    difference_head: str
    difference: str
    in_hand: str
    hand: str
    """A side's hand: {side}, {pieces}."""
    nothing: str
    contribution_axis: str
    picture_title: str
    """Title of a board: {network}, {side}, {score}, {rate}."""
    mate_found: str
    """A proven mate: {plies}, {moves}, {effort}."""
    mate_perhaps: str
    """A mate that may not be the shortest: {plies}, {moves}, {effort}."""
    no_mate: str
    """No mate; {effort}."""
    mate_unknown: str
    """Time ran out; {effort}."""
    mate_columns: tuple[str, ...]
    """Names of the columns of results by length of mate: length, problems, mates found, their share in percent, mates
    as long as given, problems without a mate, without an answer, median of the nodes, longest time in milliseconds."""
    tsume: str
    """The length without futile interpositions, {plies}."""
    tsume_unknown: str
    effort: str
    """{nodes}, {milliseconds}."""
