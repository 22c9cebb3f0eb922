"""Games in compiled code: they follow the rules as cshogi does, depend on the seed, and can be stopped."""

from __future__ import annotations

import dataclasses
import threading

import cshogi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.games.compiled_game import (
    DECLARATION,
    DRAWN_BY_SCORE,
    LONGEST,
    MATE,
    MOVE_LIMIT,
    NO_WINNER,
    PERPETUAL_CHECK,
    SENNICHITE,
    UNFINISHED,
    UNSCORED,
    WON_BY_SCORE,
    begin_game,
    enter_move,
    game_dtype,
    rules_end,
)
from experiments.games.openings import Openings, read_openings
from experiments.games.player import Duel, Ending, PlayedGame, Player, Variety, _weigh_draws
from experiments.jobs.protocol import Stopped
from experiments.matches.in_process_match import Match, play_match
from experiments.matches.pair_kif import write_pairs
from lite.notation.kif import read_kif
from lite.records.batch import labelled_dtype
from lite.records.file import Refusals, decode_games
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS
from lite.records.formats import SENNICHITE as SENNICHITE_BIT
from search.alphabeta.parameters import EVERY_STEP, PROBCUT, make_numbers
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network, save_network
from search.rules.position import do_move
from search.rules.sfen import move_from_usi, position_from_sfen
from search.rules.shogi import BLACK, WHITE
from search.score import score_of_rate

OUTRUN = "+R+P2+Pp1+P1/l5k2/nL2Pn2G/1L+Snpsl2/3PsPp2/1pgGG1P1P/pn+p1S3p/1B3K2+p/+pB+p6 b R 1"
"""A position in which quiescence after the first move takes more nodes than a first iteration with material."""
DECLARED = "+P+P+PK+P4/+P+P+P+P+P4/+P8/9/9/9/9/4k4/9 b 2R2B2G2S2N2L6P2g2s2n2lp 200"


@pytest.fixture(scope="module")
def player() -> Player:
    return Player(load_network("default"), nodes=60)


def board_after(game) -> cshogi.Board:
    """Return cshogi's board after all moves, which it must accept as legal."""
    board = cshogi.Board()
    board.set_hcp(np.frombuffer(game.start, np.uint8).copy())
    for move in game.moves.tolist():
        full = board.move_from_move16(move)
        assert board.is_legal(full)
        board.push(full)
    return board


def test_a_game_with_a_limit_of_plies_is_unfinished(player):
    whole = Duel(player).play("startpos moves 7g7f 3c3d")
    broken = Duel(player, plies=20).play("startpos moves 7g7f 3c3d")
    assert (broken.ending, broken.points, len(broken.moves)) == (UNFINISHED, 0.5, 20)
    assert broken.moves.tolist() == whole.moves[:20].tolist()
    ended = Duel(player, plies=len(whole.moves) + 1).play("startpos moves 7g7f 3c3d")
    assert (ended.ending, ended.moves.tolist()) == (whole.ending, whole.moves.tolist())


def test_games_end_by_the_rules(player):
    duel = Duel(player, player, variety=Variety(soft_plies=10))
    random = np.random.default_rng(5)
    endings = set()
    for number in range(25):
        duel.forget()
        game = duel.play(Openings(most=8).draw(random), first_colour=number % 2, seed=number)
        board = board_after(game)
        if game.ending == MATE:
            assert not list(board.legal_moves)
            assert game.winner == 1 - board.turn
        elif game.ending == SENNICHITE:
            assert board.is_draw() == cshogi.REPETITION_DRAW
        elif game.ending == DECLARATION:
            assert board.is_nyugyoku()
        endings.add(game.ending)
        assert game.points == (0.5 if game.winner == 2 else float(game.winner == number % 2))
        assert len(game.scores) == len(game.moves) > 0
        assert all(nodes > 0 for nodes in game.nodes)
    assert MATE in endings


def test_limits_end_a_game(player):
    game = Duel(player, ending=Ending(max_moves=20)).play("startpos moves 7g7f 3c3d")
    assert (game.ended, game.winner, len(game.moves)) == ("move limit", 2, 18)
    for last, ended in ((200, "declaration"), (199, "move limit")):  # the declaration counts as a move
        with pytest.raises(ValueError, match=rf"over before it begins \({ended}\)"):
            Duel(player, ending=Ending(max_moves=last)).play(DECLARED)
    game = Duel(player, ending=Ending(max_moves=100)).play("8k/9/8G/9/9/9/9/9/K8 b G 100")
    assert (game.ended, game.winner, len(game.moves)) == ("mate", BLACK, 1)
    with pytest.raises(ValueError, match="needs a limit of nodes or depth"):
        Duel(Player(player.network))


def test_sennichite_ends_a_game():
    """Each side has only one move that does not lose: rook and king move to and fro."""
    shuffle = "4k4/9/4P4/9/9/9/4p4/9/4K4 b - 1"
    game = Duel(Player(material_network(), depth=1)).play(shuffle)
    assert game.ended == "sennichite"
    assert board_after(game).is_draw() == cshogi.REPETITION_DRAW
    assert game.result() == DRAW | SENNICHITE_BIT


def test_perpetual_check_loses():
    """Either side may be to move at the fourth occurrence: after the move of the checked king, and after the check."""
    game = np.zeros((), game_dtype)[()]
    game["max_moves"] = 999
    pos = position_from_sfen("4k4/9/9/9/9/9/9/4R4/K8 w - 1")
    for usi in 3 * ["5a4a", "5h4h", "4a5a", "4h5h"]:
        assert rules_end(pos, game) == (UNFINISHED, NO_WINNER)
        do_move(pos, np.int64(move_from_usi(usi)))
    assert rules_end(pos, game) == (PERPETUAL_CHECK, WHITE)
    do_move(pos, np.int64(move_from_usi("5a4a")))
    assert rules_end(pos, game) == (PERPETUAL_CHECK, WHITE)


def test_the_seed_decides_the_game(player):
    duel = Duel(player, variety=Variety(soft_plies=12, soft_margin=200, soft_temperature=100.0))

    def moves(seed):
        duel.forget()
        return duel.play("startpos", seed=seed).moves.tolist()

    first = moves(1)
    assert moves(1) == first
    assert len({tuple(moves(seed)[:12]) for seed in range(8)}) > 3


def test_a_game_is_adjudicated_by_the_scores_of_both_players(player):
    ending = Ending(win_score=600, win_plies=4)
    called, out = Duel(player, ending=ending), Duel(player, ending=ending)
    seen = 0
    for seed in range(6):
        opening = Openings(least=6, most=8).draw(np.random.default_rng(seed))
        called.forget()
        out.forget()
        short, whole = called.play(opening), out.play(opening, play_out=True)
        if short.ending != WON_BY_SCORE:
            continue
        seen += 1
        blacks = [
            score if (place + board_turn(short)) % 2 == 0 else -score
            for place, score in enumerate(short.scores.tolist())
        ]
        # The move of the fourth score is not played, and its score is not kept.
        assert all(abs(score) >= 600 for score in blacks[-3:])
        assert len({score > 0 for score in blacks[-3:]}) == 1
        assert short.winner == (0 if blacks[-1] > 0 else 1)
        assert whole.called == (WON_BY_SCORE, short.winner, len(short.moves))
        assert whole.moves[: len(short.moves)].tolist() == short.moves.tolist()
        assert len(whole.moves) >= len(short.moves)
    assert seen > 1


def board_turn(game) -> int:
    return game.start[0] & 1


@given(
    st.lists(st.sampled_from([-700, -600, -599, -101, -100, 0, 100, 101, 599, 600, 700]), max_size=40), st.booleans()
)
def test_scores_that_agree_for_enough_plies_end_a_game(blacks, play_out):
    """A game ends after three plies of 600 for one side, or after four of at most 100 from move 6 on."""
    game = np.zeros((), game_dtype)[()]
    begin_game(game)
    Ending(win_score=600, win_plies=3, draw_score=100, draw_plies=4, draw_from=6).write(game)
    game["play_out"] = play_out
    pos, called = position_from_sfen("startpos"), (UNFINISHED, NO_WINNER)
    for ply, (black, usi) in enumerate(zip(blacks, 10 * ["2h3h", "8b7b", "3h2h", "7b8b"], strict=False)):
        lately, even = blacks[max(ply - 2, 0) : ply + 1], blacks[max(ply - 3, 5) : ply + 1]
        if called[0] != UNFINISHED:
            pass
        elif len(lately) == 3 and (min(lately) >= 600 or max(lately) <= -600):
            called = (WON_BY_SCORE, BLACK if black > 0 else WHITE)
        elif len(even) == 4 and max(map(abs, even)) <= 100:
            called = (DRAWN_BY_SCORE, NO_WINNER)
        ended = enter_move(pos, game, np.int64(move_from_usi(usi)), np.int64(black if ply % 2 == 0 else -black))
        assert ended == ((UNFINISHED, NO_WINNER) if play_out else called)
        assert (game["called_ending"], game["called_winner"]) == called
        if ended[0] != UNFINISHED:
            assert game["count"] == ply == game["called_at"]
            return
    assert game["count"] == len(blacks)


def test_wrong_adjudications_are_counted():
    none = np.zeros(0, np.uint16)
    won = PlayedGame(b"", none, none.view(np.int16), BLACK, MATE, (WON_BY_SCORE, BLACK, 5), WHITE, (1, 2))
    lost = dataclasses.replace(won, winner=WHITE)
    assert [game.counts()["called wrongly"] for game in (won, lost)] == [0, 1]
    assert [game.points for game in (won, lost)] == [0, 1]
    assert [game.result() for game in (won, lost)] == [BLACK_WINS, WHITE_WINS]


def test_a_game_is_stopped_from_another_thread(player):
    duel = Duel(Player(player.network, nodes=2_000_000_000))
    timer = threading.Timer(0.3, duel.stop)
    timer.start()
    with pytest.raises(Stopped):
        duel.play("startpos")
    timer.join()


def test_games_are_read_back_as_records(player):
    duel = Duel(player, ending=Ending(max_moves=60))
    game = duel.play("startpos", seed=3)
    refused = Refusals()
    raw = np.frombuffer(game.hcpe3(), np.uint8).copy()
    found = decode_games(raw, 1, np.empty(len(game.moves), labelled_dtype), "game", refused)
    assert not refused.refused
    assert found.positions["score"].tolist() == game.scores.tolist()
    assert found.positions["move"].tolist() == game.moves.tolist()


def test_a_search_without_a_result_has_no_score():
    """The record marks its score as missing, unlike scores of 0."""
    game = Duel(Player(material_network(), nodes=1)).play(OUTRUN)
    assert np.flatnonzero(game.scores == UNSCORED).tolist() == [0]
    game.scores[3] = 0
    raw = np.frombuffer(game.hcpe3(), np.uint8).copy()
    found = decode_games(raw, 1, np.empty(len(game.moves), labelled_dtype), "game", Refusals()).positions
    assert found["scored"].tolist() == [False] + (len(game.moves) - 1) * [True]
    assert found["score"].tolist() == [0, *game.scores[1:3].tolist(), 1, *game.scores[4:].tolist()]
    assert found["kind_of_result"].tolist() == len(game.moves) * [0]


def test_kif_has_no_score_where_none_was_found(tmp_path):
    net, openings = tmp_path / "material.safetensors", tmp_path / "openings.sfen"
    save_network(material_network(), net)
    openings.write_text(OUTRUN)
    play_match(Match(str(net), str(net), nodes=1, games=2, openings=openings, output=tmp_path / "match"))
    assert write_pairs(tmp_path / "match", lambda _: ("a", "b")) == 2
    text = (tmp_path / "match" / "kif" / "00001-1.kifu").read_text(encoding="utf-8")
    lines = text[text.index("手数") :].splitlines()[1:]
    moves = [number for number, line in enumerate(lines) if line.strip()[:1].isdigit()]
    assert moves[:3] == [0, 1, 3]  # the second move has a comment after it, the first has none
    assert "評価値" in lines[2]
    game = read_kif(text, "kif")
    raw = np.fromfile(tmp_path / "match" / "shard_00000.hcpe3", np.uint8)
    positions = 2 * len(game.moves)  # the players are equal, so both games are equal
    found = decode_games(raw, 2, np.empty(positions, labelled_dtype), "games", Refusals()).positions
    read, kept = (np.clip(scores, -30_000, 30_000) for scores in (game.scores, found["score"][: len(game.moves)]))
    assert read.tolist() == kept.tolist()  # except for the lengths of mates
    assert len(set(read.tolist())) > 2


def test_a_move_without_a_score_resets_adjudication():
    """It resets the counts of clear wins and of level scores."""
    pos, game = position_from_sfen("startpos"), np.zeros((), game_dtype)[()]
    game["win_score"] = game["draw_score"] = 100
    game["win_plies"] = game["draw_plies"] = 9
    for usi, score, clear, level in (
        ("7g7f", 300, 1, 0),
        ("3c3d", UNSCORED, 0, 0),
        ("2g2f", 0, 0, 1),
        ("8c8d", UNSCORED, 0, 0),
    ):
        enter_move(pos, game, np.int64(move_from_usi(usi)), np.int64(score))
        assert (game["clear"], game["level"]) == (clear, level)
    assert game["scores"][:4].tolist() == [300, UNSCORED, 0, UNSCORED]


def test_openings_are_read_line_by_line(tmp_path):
    file = tmp_path / "openings.sfen"
    file.write_text("# two\nposition startpos moves 7g7f\n\nsfen 4k4/9/9/9/9/9/9/9/4K4 b R 1\n")
    assert read_openings(file) == ("startpos moves 7g7f", "sfen 4k4/9/9/9/9/9/9/9/4K4 b R 1")
    file.write_text("startpos\nstartpos moves 7g7e\n")
    with pytest.raises(ValueError, match=r"openings\.sfen line 2: move 1, 7g7e, is not legal"):
        read_openings(file)
    file.write_text("\n")
    with pytest.raises(ValueError, match="no opening; write"):
        read_openings(file)
    start = Openings(("startpos",), 0, 0)
    with pytest.raises(ValueError, match="random openings can be played"):
        start.draw(np.random.default_rng(0), lambda _: False)


def test_an_opening_keeps_the_moves_before_it(player):
    """A game that begins one move before the fourth occurrence may end by that move."""
    shuffle = "2h3h 8b7b 3h2h 7b8b"
    line = f"startpos moves {shuffle} {shuffle} 2h3h 8b7b 3h2h"
    assert Openings((line,)).draw(np.random.default_rng(1)) == line
    longer = Openings((line,), 2, 2).draw(np.random.default_rng(1))
    assert longer.startswith(line + " ")
    assert len(longer.split()) == len(line.split()) + 2
    eager = dataclasses.replace(player, draw_rates=(0.95, 0.95))
    game = Duel(eager, player).play(line, WHITE)
    assert (game.ending, len(game.moves)) == (SENNICHITE, 1)


def test_each_player_has_its_limits_and_its_memory(player, monkeypatch):
    first = dataclasses.replace(
        player, nodes=7, depth=2, hash_mb=2, steps=EVERY_STEP & ~PROBCUT, parameters={"futility_margin": 300}
    )
    second, cleared = dataclasses.replace(player, nodes=0, depth=3, hash_mb=1), []
    duel = Duel(first, second)
    assert (duel._game["nodes"].tolist(), duel._game["depth"].tolist()) == ([7, 0], [2, 3])
    assert [seat.table.megabytes for seat in duel._seats] == [2, 1]
    assert [int(seat.record["steps"]) for seat in duel._seats] == [first.steps, EVERY_STEP]
    numbers = [make_numbers(one.parameters).tobytes() for one in (first, second)]
    assert [seat.record["numbers"].tobytes() for seat in duel._seats] == numbers
    duel._game["count"] = LONGEST  # from an earlier game
    assert not duel.is_over("startpos")
    with pytest.raises(ValueError, match="needs a limit of nodes or depth"):
        Duel(dataclasses.replace(player, nodes=0))
    monkeypatch.setattr(SearchThread, "forget", lambda self: cleared.append(self))
    duel.forget()
    assert cleared == duel._seats
    cleared.clear()
    monkeypatch.setattr(TranspositionTable, "clear", lambda _: cleared.append("table"))
    monkeypatch.setattr(SearchThread, "clear_corrections", lambda _: cleared.append("corrections"))
    eager = dataclasses.replace(player, draw_rates=(0.7, 0.4))
    for colour, times in ((BLACK, 1), (BLACK, 1), (WHITE, 2), (WHITE, 2)):
        _weigh_draws(duel._seats[0], eager, colour)
        assert cleared == ["table", "corrections"] * times  # if the value of a draw differs


@pytest.mark.parametrize(
    ("ending", "bits"),
    [(MATE, 0), (DECLARATION, 8), (SENNICHITE, 4), (PERPETUAL_CHECK, 4), (MOVE_LIMIT, 16), (WON_BY_SCORE, 0)],
)
def test_the_record_of_a_game_has_its_ending(ending, bits):
    nothing = np.zeros(0, np.uint16)
    results = [
        PlayedGame(b"", nothing, nothing, winner, ending, None, BLACK, (0, 0)).result() for winner in (0, 1, NO_WINNER)
    ]
    assert results == [BLACK_WINS | bits, WHITE_WINS | bits, DRAW | bits]


def test_each_player_weighs_draws_by_its_colour(player):
    """The value of a repetition is that of the player's option for its colour."""
    eager = dataclasses.replace(player, draw_rates=(0.7, 0.4))
    duel = Duel(eager, player)
    scale = player.network.cp_per_logit
    for colour, rate in ((BLACK, 0.7), (WHITE, 0.4)):
        duel.play("startpos", colour)
        first, second = (seat.record["draw_value"].tolist() for seat in duel._seats)
        assert first[colour] == score_of_rate(rate, scale) == -first[1 - colour]
        assert second == [0, 0]
    assert Duel(eager)._seats[0].record["draw_value"].tolist() == [0, 0]
