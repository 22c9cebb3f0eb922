"""The mate solver against cshogi: its proofs and refutations are correct, and it stops on request."""

from __future__ import annotations

import collections
import json
import random
import re
import threading

import cshogi
import numpy as np
import pytest

from liteshogi.commands.mate import Command as Mate
from search.engine import Analysis
from search.mate.problems import read_problems, set_problem
from search.mate.root_mate import RootMate, with_mate
from search.mate.solver import MateSolver, MateStatus, StopFlag
from search.mate.table import MateTable
from search.rules.movegen import is_legal, list_moves
from search.rules.play import play_moves, set_game, split_moves
from search.rules.position import new_position
from search.rules.repetition import NO_REPETITION, fourfold
from search.rules.sfen import get_sfen, move_from_usi, position_from_sfen
from search.score import MATE

MATE_IN_ELEVEN = "1B2G4/1+N2s3+P/l4+Ps1p/5L3/pp2p4/PP3Rr1P/S1P2Sg1G/3PBkp1L/LNK1P1PNG b 4Pn 167"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
NO_MATE = "4k4/9/9/9/9/9/9/9/9 b G2r2b3g4s4n4l18p 1"
REPEATED = "7k1/6S2/9/8B/8L/9/9/9/9 w P2rb4g3s4n3l17p 1"
"""Black mates in five after 2a1b 3b2c 1b2a by 2c3b, which brings the position back."""
_CHECKS, _ONE_QUIET = "2a1b 3b2c 1b2a 2c3b ", "2a1b 3b4a 1b2a 4a3b "
PAWN_DROP_ONLY = "7nk/8l/7S1/9/9/9/9/9/4K4 b P 1"
"""A position in which only a forbidden pawn drop would mate."""


@pytest.fixture(scope="module")
def solver() -> MateSolver:
    return MateSolver(4)


def _positions(count: int, seed: int, plies: tuple[int, int] = (50, 180)) -> list[str]:
    generator, found = random.Random(seed), []
    while len(found) < count:
        board = cshogi.Board()
        for _ in range(generator.randrange(*plies)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if not board.is_game_over():
            found.append(board.sfen())
    return found


def _assert_mates(sfen: str, moves: tuple[str, ...]) -> None:
    board = cshogi.Board(sfen)
    assert len(moves) % 2 == 1
    for number, usi in enumerate(moves):
        move = board.move_from_usi(usi)
        assert board.is_legal(move), f"{usi} in {board.sfen()}"
        board.push(move)
        if number % 2 == 0:
            assert board.is_check()
    assert not list(board.legal_moves)


def test_results_agree_with_cshogi_on_positions_of_random_games(solver):
    mates = refuted = 0
    for sfen in _positions(700, 5):
        result = solver.solve(sfen, nodes=20_000)
        board = cshogi.Board(sfen)
        if result.status is MateStatus.MATE:
            mates += 1
            _assert_mates(sfen, result.moves)
        elif result.status is MateStatus.NO_MATE:
            refuted += 1
            assert board.is_check() or not board.mate_move_in_1ply()
            assert not board.mate_move(5), sfen
        if not board.is_check() and board.mate_move(3):
            assert result.status is MateStatus.MATE
    assert mates > 30
    assert refuted > 180


class Exhaustive:
    """A solver that tries every check and every reply with cshogi's moves."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}

    def mates(self, board: cshogi.Board, plies: int) -> bool:
        """Return whether the side to move mates within `plies` (odd)."""
        if plies < 1:
            return False
        key = board.zobrist_hash(), plies
        if key not in self._known:
            self._known[key] = any(self._is_mated(board, move, plies - 1) for move in list(board.legal_moves))
        return self._known[key]

    def _is_mated(self, board: cshogi.Board, move: int, plies: int) -> bool:
        board.push(move)
        mated = board.is_check()
        for reply in list(board.legal_moves) if mated else []:
            if plies == 0:
                mated = False
                break
            board.push(reply)
            mated = self.mates(board, plies - 1)
            board.pop()
            if not mated:
                break
        board.pop()
        return mated

    def assert_shortest(self, sfen: str, moves: tuple[str, ...]) -> None:
        """Check that both sides play optimally: before each move of the attacker the mate takes all remaining
        plies."""
        _assert_mates(sfen, moves)
        board = cshogi.Board(sfen)
        for number, usi in enumerate(moves):
            if number % 2 == 0:
                left = len(moves) - number
                assert self.mates(board, left), board.sfen()
                assert not self.mates(board, left - 2), board.sfen()
            board.push(board.move_from_usi(usi))


# Long mates in which the attacker finds a longer line first, so that a bad defence seems short.
def test_pawns_are_not_dropped_on_a_file_with_two():
    """Problems, unlike games, may have two pawns on a file, one of which may be the only shield of a king."""
    shielded = "9/9/6P2/9/4k1P1R/9/9/9/9 b P 1"
    for sfen in ("k8/9/9/9/9/9/6P2/9/6P1K b P 1", "4k4/9/4P4/9/4P4/9/2P6/2P6/4K4 b P 1", shielded):
        pos = new_position()
        set_problem(pos, sfen)
        drops = {move for move in range(1 << 15) if move >> 7 == move_from_usi("P*5e") >> 7}
        legal = {move for move in drops if is_legal(pos, np.int64(move))}
        assert {move for move in list_moves(pos) if move in drops} == legal
        assert legal


@pytest.mark.parametrize(
    ("sfen", "refuted"),
    [
        ("l2+B2n1+R/5sk2/p1npgpsP1/6ppP/2GPP3B/1P2+r1s2/P4P3/7K1/L1s6 w GL4Pg2nl2p 126", 5),
        ("ln1g2g+P1/1R1nksl2/P2ppp1+B1/3s2pL1/p1P2P3/2pGnsPp1/1p1PS3P/6K2/3+rP2NL w Bg2p 114", 7),
        ("ln1g5/5k3/p2p5/1p3p3/5L2p/2PB1PP2/PPNKP3P/2S3S2/L1+bG1G2L b RGS2N6Prs 97", 7),
        ("lk6l/4g1+P2/pP1pp1p+Rn/2p6/1N2s1N2/P1P1sPP2/5pN2/1gSPP4/L2K1+lS2 b RBPb2g3p 89", 9),
        ("ln5+Pl/3kg1g2/p1spP1pS1/1pp1p1g2/7p1/2P5P/PP1P+bPP2/3N2B2/LNK2G3 w RNPr2slp 72", 9),
    ],
)
def test_the_length_of_a_mate_is_that_of_the_best_defence(sfen, refuted):
    exhaustive = Exhaustive()
    assert not exhaustive.mates(cshogi.Board(sfen), refuted)
    result = MateSolver(64).solve(sfen)
    _assert_mates(sfen, result.moves)
    assert result.plies == len(result.moves) > refuted
    if result.shortest and result.plies <= 9:
        exhaustive.assert_shortest(sfen, result.moves)


def test_the_shortest_mates_of_random_games_are_the_shortest(solver):
    counts = collections.Counter()
    for sfen in _positions(900, 3, (60, 200)):
        result = solver.solve(sfen, nodes=20_000)
        counts[result.plies] += result.shortest
        if result.shortest and result.plies <= 7:
            Exhaustive().assert_shortest(sfen, result.moves)
    assert sum(counts[plies] for plies in (3, 5, 7)) > 12


@pytest.mark.slow
def test_the_shortest_mates_of_the_problems_are_the_shortest(solver, data_folder):
    path = data_folder / "mate" / "mate_problems.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    problems = read_problems(path)
    for problem in problems:
        result = solver.solve(problem.sfen, milliseconds=1000)
        assert (result.status is MateStatus.MATE) or problem.plies == 0
        if result.shortest and 3 <= result.plies <= 7:
            Exhaustive().assert_shortest(problem.sfen, result.moves)


def test_the_shortest_mate_is_found_and_marked(solver):
    result = solver.solve(MATE_IN_ELEVEN)
    assert result.status is MateStatus.MATE
    assert result.plies == 11
    assert result.shortest
    assert solver.solve("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1").moves == ("G*5b",)


def test_a_pawn_drop_does_not_mate(solver):
    assert solver.solve(PAWN_DROP_ONLY).moves[:1] != ("P*1b",)
    assert solver.solve("8k/9/7GG/9/9/9/9/9/4K4 b P 1").status is MateStatus.MATE


def test_results_with_a_full_table_are_correct():
    small = MateSolver(1)
    for sfen in _positions(150, 9, (120, 250)):
        result = small.solve(sfen, nodes=50_000)
        if result.status is MateStatus.MATE:
            _assert_mates(sfen, result.moves)
    assert small.table.filled() > 900  # per mille: the table was full


@pytest.mark.parametrize(("megabytes", "entries"), [(64, 1 << 21), (131_071, 131_071 << 15), (131_072, (1 << 32) - 1)])
def test_a_table_has_at_most_as_many_entries_as_indices(monkeypatch, megabytes, entries):
    monkeypatch.setattr("search.mate.table.aligned_zeros", lambda count, dtype: np.zeros(1, dtype))
    assert int(MateTable(megabytes).record["entries"]) == entries


def test_the_solver_stops_on_request():
    flag = StopFlag()
    flag.set()
    assert MateSolver(1).solve(MATE_IN_ELEVEN, stop=flag).status is MateStatus.UNKNOWN
    assert MateSolver(1).solve(MATE_IN_ELEVEN, nodes=50).status is MateStatus.UNKNOWN


def test_zero_nodes_mean_no_limit(solver):
    assert solver.solve(MATE_IN_ELEVEN, nodes=0).plies == 11


def test_mates_are_found_without_threads(monkeypatch, solver):
    """Without a timer a search that has a time limit ends at once."""
    solver.prepare()
    monkeypatch.setattr("search.mate.solver.started", lambda thread: None)
    assert solver.solve(MATE_IN_ELEVEN).plies == 11
    assert MateSolver(1).solve(MATE_IN_ELEVEN, milliseconds=1000).status is MateStatus.UNKNOWN


@pytest.mark.parametrize("ply", ["true", "-3", '"3"', "3.5", "[3]"])
def test_a_length_that_is_no_number_of_plies_is_refused(tmp_path, ply):
    file = tmp_path / "problems.jsonl"
    file.write_text(f'{{"sfen": "{MATE_IN_ONE}", "ply": 1}}\n{{"sfen": "{MATE_IN_ONE}", "ply": {ply}}}\n')
    with pytest.raises(ValueError, match=r"problems\.jsonl: line 2: .*ply"):
        read_problems(file)


def test_games_in_json_are_named_as_such(tmp_path):
    file = tmp_path / "game.jkf"
    file.write_text('{\n  "header": {},\n  "moves": [{}]\n}\n')
    with pytest.raises(ValueError, match=r"game\.jkf: line 1: .*games in JSON, such as JKF, are not read"):
        read_problems(file)


def test_invalid_positions_are_refused(solver, tmp_path):
    with pytest.raises(ValueError, match="SFEN"):
        solver.solve("nonsense")
    file = tmp_path / "problems.txt"
    file.write_text("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\nnonsense\n")
    with pytest.raises(ValueError, match=r"problems\.txt: line 2"):
        Mate(file=file).run()
    with pytest.raises(ValueError, match="no position"):
        Mate().run()


def test_a_problem_may_be_a_game_with_its_ending(tmp_path, capsys):
    file = tmp_path / "games.usi"
    file.write_text("startpos moves 7g7f 3c3d resign\n")
    assert [problem.sfen for problem in read_problems(file)] == ["startpos moves 7g7f 3c3d"]
    Mate(file=file).run()
    assert "no mate by checks" in capsys.readouterr().out
    file.write_text("startpos moves 7g7f resign 3c3d\n")
    with pytest.raises(ValueError, match=r"games\.usi: line 1: a move after the ending: '3c3d'"):
        read_problems(file)


def test_a_position_may_have_moves(solver, capsys):
    played = "3k5/9/4P4/9/9/9/9/9/9 w G2r2b3g4s4n4l17p 1 moves 6a5a"
    for text in (played, f"sfen {played}"):
        assert solver.solve(text).moves == ("G*5b",)
    assert solver.solve("startpos moves 7g7f").status is MateStatus.NO_MATE
    with pytest.raises(ValueError, match="move 2, 7g7f, is not legal"):
        solver.solve("startpos moves 7g7f 7g7f")
    Mate((played,)).run()
    assert "mate in 1: G*5b" in capsys.readouterr().out


def test_moves_before_a_problem_do_not_count_as_repetition():
    there_and_back = "5i5h 5a5b 5h5i 5b5a"
    pos = new_position()
    set_problem(pos, f"startpos moves {there_and_back} {there_and_back}")
    assert get_sfen(pos).split()[:3] == get_sfen(position_from_sfen("startpos")).split()[:3]
    assert pos["ply"] == 0
    set_problem(pos, "k8/9/9/9/9/9/6P2/9/6P1K b P 1 moves 1i1h 9a9b")  # two pawns on a file
    assert get_sfen(pos) == "9/k8/9/9/9/9/6P2/8K/6P2 b P 3"


def _verdicts(game: str, line: tuple[str, ...]) -> list[int]:
    """Return the verdicts of the game's rule after each move of a line."""
    pos, verdicts = new_position(), []
    set_game(pos, *split_moves(game))
    for move in line:
        play_moves(pos, [move])
        verdicts.append(int(fourfold(pos)))
    return verdicts


@pytest.mark.parametrize("cycles", [_CHECKS * 2, _ONE_QUIET * 2, _CHECKS + _ONE_QUIET])
def test_no_mate_leads_through_the_fourth_occurrence_of_a_position(solver, cycles):
    """The end would be lost by perpetual check, or drawn if a move of the cycle gives no check."""
    third = f"{REPEATED} moves {cycles}2a1b 3b2c 1b2a"
    assert solver.solve(third.replace(cycles, "")).moves[0] == "2c3b"
    pos = new_position()
    set_game(pos, *split_moves(third))
    for game in (third, pos):
        assert solver.solve(game).plies == 9
    for game in (third, third.removesuffix(" 3b2c 1b2a")):
        found = solver.solve(game)
        assert found.status is MateStatus.MATE
        assert set(_verdicts(game, found.moves)) == {NO_REPETITION}
    assert solver.solve(third.replace(cycles, "")).moves[0] == "2c3b"


def test_a_mate_that_only_a_repetition_could_give_is_none(solver):
    start = "ln5+Rl/2r1gk3/3p2+B2/p2sp1p1p/2P5P/1PpBPp+s2/PG1P1P3/4KG3/LN6L w N2Pg2sn2p 1"
    cycle = "4b5c 3c4d 5c4b 4d3c "
    assert solver.solve(f"{start} moves {cycle}4b5c 3c4d 5c4b").moves[0] == "4d3c"
    assert solver.solve(f"{start} moves {cycle * 2}4b5c 3c4d 5c4b").status is MateStatus.NO_MATE


def test_the_verb_solves_the_first_position_of_a_game_file(tmp_path, capsys):
    file = tmp_path / "tsume.csa"
    file.write_text("P-51OU\nP+53FU00KI\nP-00AL\n+\n+0052KI\n%TSUMI\n")
    Mate(file=file, json=True).run()
    (position,) = json.loads(capsys.readouterr().out)["positions"]
    assert (position["status"], position["plies"], position["moves"]) == ("mate", 1, ["G*5b"])


def test_the_verb_shows_its_progress(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("experiments.jobs.progress.PLAIN_SECONDS", 0.0)
    file = tmp_path / "problems.sfen"
    file.write_text("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n" * 2)
    Mate(file=file, json=True, language="en").run()
    said = capsys.readouterr().err
    assert re.fullmatch(r"1 of 2 positions, \d+:\d\d left\n2 of 2 positions, 0:00 left\n", said)


def test_the_verb_prints_one_object(capsys):
    Mate((MATE_IN_ELEVEN,), json=True).run()
    (position,) = json.loads(capsys.readouterr().out)["positions"]
    assert (position["status"], position["plies"]) == ("mate", 11)


def test_a_mate_at_the_root_ends_the_search():
    beside, proved = RootMate(), threading.Event()
    beside.begin(position_from_sfen(MATE_IN_ELEVEN), 1_000_000, proved.set)
    assert proved.wait(60)
    mate = beside.end()
    assert mate is not None
    assert mate.plies == 11
    seen = Analysis("1a1b", 120, depth=3, nodes=500, pv=("1a1b",))
    better = with_mate(seen, mate)
    assert (better.best_move, better.score, better.pv) == (mate.moves[0], MATE - 11, mate.moves)
    shorter = Analysis("1a1b", MATE - 5, depth=7, nodes=500, pv=("1a1b",))
    assert with_mate(shorter, mate) is shorter


def test_a_mate_at_the_root_comes_before_the_move_limit():
    beside, mated = RootMate(), "8k/9/8G/9/9/9/9/9/K8 b G 100"
    for last, found in ((99, False), (100, True)):
        proved = threading.Event()
        beside.begin(position_from_sfen(mated), 1_000, proved.set, last)
        beside._thread.join(30)
        assert (beside.end() is not None, proved.is_set()) == (found, found)


def test_without_a_mate_at_the_root_nothing_is_reported():
    beside, calls = RootMate(), []
    for sfen in ("startpos", "9/9/4P4/9/9/9/9/9/4K4 b G 1"):  # the second has no king to mate
        beside.begin(position_from_sfen(sfen), 1_000, lambda: calls.append(1))
        beside._thread.join(60)
        assert beside.end() is None
    assert calls == []


def test_problems_without_a_mate_are_not_solved(tmp_path, capsys):
    file = tmp_path / "problems.sfen"
    file.write_text(f"{NO_MATE}\n{MATE_IN_ONE}\n")
    Mate(file=file, json=True).run()
    (row,) = json.loads(capsys.readouterr().out)["summary"]
    assert (row["problems"], row["solved"], row["share"], row["no_mate"]) == (2, 1, 0.5, 1)
    Mate(file=file).run()
    header, values = capsys.readouterr().out.splitlines()[-2:]
    assert "mate found" in header
    assert values.split()[:5] == ["?", "2", "1", "50.00", "%"]


def test_results_in_japanese_have_no_english_words_and_no_usi_moves(tmp_path, capsys):
    file = tmp_path / "problems.sfen"
    file.write_text(f"{MATE_IN_ELEVEN}\n{NO_MATE}\n")
    Mate(file=file, language="ja").run()
    output = capsys.readouterr().out
    assert not re.search("[a-z]", output)
    assert "11手詰: ▲３六銀(47) △" in output
    assert "△同金(37)" in output
    columns = [sum(1 if sign.isascii() else 2 for sign in line) for line in output.splitlines()[-2:]]
    assert columns[0] == columns[1]
