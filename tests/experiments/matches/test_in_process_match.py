"""Matches in process: their games depend only on the options, and every error is one line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import pytest

from experiments.arena.engine_match import UsiMatch, play_usi_match
from experiments.elo.sprt import Sprt
from experiments.games.player import Duel, Ending, Player
from experiments.matches.alphabeta_pairs import PairWorker
from experiments.matches.in_process_games import InProcessGames
from experiments.matches.in_process_match import Match, play_match
from experiments.matches.named_player import plays_in_process, read_player
from experiments.matches.pair import PairSettings
from experiments.matches.pair_task import PairTask
from experiments.report.match_section import match_section
from experiments.report.section import Run
from lite.records.formats import candidate_dtype, game_dtype, move_dtype
from lite.run_folder import RESULTS, read_run
from liteshogi.__main__ import _run
from search.alphabeta.bench import SIGNATURE
from search.alphabeta.parameters import EVERY_STEP, NULL_MOVE, SHORT, STEPS, make_numbers
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network, save_network
from search.evaluation.nnue_identification import MissingSetting
from search.system.options import OptionError
from tests.yaneuraou_networks import network_bytes, without_text

ROOT = Path(__file__).parents[3]
UNHURRIED = """
import time
from experiments.jobs import produce
from liteshogi.__main__ import main
land = produce._ShardWork.land
def land_and_wait(*given):
    land(*given)
    time.sleep(0.3)
produce._ShardWork.land = land_and_wait
main()
"""
"""Program that runs a command and waits after each pair, so that signals arrive during the match."""


@pytest.fixture(scope="module")
def material(tmp_path_factory) -> str:
    """The path of a network that counts material."""
    path = tmp_path_factory.mktemp("net") / "material.safetensors"
    save_network(material_network(), path)
    return str(path)


@pytest.fixture(scope="module")
def match(material, tmp_path_factory) -> Match:
    """Return a function that plays a short match of unequal players, each time in another folder."""
    place = tmp_path_factory.mktemp("matches")
    return Match(material, "default", nodes=60, second_nodes=40, games=24, parallel=2, output=place / "match")


@pytest.fixture(scope="module")
def played(match):
    return play_match(match)


def games_of(folder: Path) -> dict[int, bytes]:
    """Return the games of a match by the number of the pair."""
    lines = [json.loads(line) for line in (folder / RESULTS).read_text().splitlines()]
    return {
        line["job"]: (folder / f"shard_{line['shard']:05}.hcpe3").read_bytes()[line["start"] : line["stop"]]
        for line in lines
    }


def without_times(report):
    return {name: value for name, value in vars(report).items() if name not in TIMES}


TIMES = ("nodes_per_second", "positions_per_hour", "parallel", "folder")


@pytest.mark.parametrize("parallel", [1, 5])
def test_games_depend_only_on_the_seed_and_the_number_of_the_pair(match, played, parallel, tmp_path):
    other = play_match(replace(match, parallel=parallel, output=tmp_path))
    assert without_times(other) == without_times(played)
    assert games_of(tmp_path) == games_of(match.output)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_match_on_a_cluster_has_the_games_of_threads(cluster, match, played, tmp_path):
    on_cluster = play_match(replace(match, ray=cluster.address, output=tmp_path / "match"))
    assert without_times(on_cluster) == without_times(played)
    assert games_of(on_cluster.folder) == games_of(match.output)


def test_another_seed_plays_other_games(match, played, tmp_path):
    play_match(replace(match, seed=2, games=8, output=tmp_path))
    assert not set(games_of(tmp_path).values()) & set(games_of(match.output).values())


def test_cshogi_replays_every_game_and_finds_the_same_end(match, played):
    games = 0
    for _, raw in sorted(games_of(match.output).items()):
        at, starts = 0, []
        while at < len(raw):
            header = np.frombuffer(raw, game_dtype, 1, at)[0]
            at += game_dtype.itemsize
            board = cshogi.Board()
            board.set_hcp(np.frombuffer(header["hcp"].tobytes(), np.uint8).copy())
            starts.append(board.sfen())
            for _ in range(int(header["moves"])):
                row = np.frombuffer(raw, move_dtype, 1, at)[0]
                at += move_dtype.itemsize + int(row["candidates"]) * candidate_dtype.itemsize
                move = board.move_from_move16(int(row["move"]))
                assert board.is_legal(move)
                board.push(move)
            games += 1
            if header["result"] in (1, 2):  # neither a draw nor an end by declaration or repetition
                assert board.is_game_over()
                assert int(header["result"]) == (2 if board.turn == cshogi.BLACK else 1)
        assert len(starts) == 2
        assert starts[0] == starts[1]
    assert games == played.games == 24


def test_a_report_adds_up(match, played):
    assert played.wins + played.draws + played.losses == 24 == sum(played.endings.values())
    assert sum(vars(played.as_black).values()) == sum(vars(played.as_white).values()) == 12
    assert played.points == sum(half / 2 * pairs for half, pairs in enumerate(played.pentanomial))
    assert played.first == "material.safetensors (60 nodes)"
    assert played.second == "default (40 nodes)"
    # With any limit, the first depth is searched completely.
    assert 40 <= played.nodes_per_move < 200
    per_hour = played.nodes_per_second / played.nodes_per_move * 3600
    assert played.positions_per_hour == pytest.approx(per_hour * match.parallel, abs=1)


def test_the_report_of_runs_uses_the_player_names_of_the_match(material, tmp_path):
    for folder in ("na", "nb"):
        save_network(material_network(), tmp_path / folder / "net.safetensors")
    na, nb = (str(tmp_path / folder / "net.safetensors") for folder in ("na", "nb"))
    base = Match(material, material, nodes=10, games=2, max_moves=16, parallel=1)
    matches = {
        "options": replace(base, second_option=("razor_margin=300",)),
        "folders": replace(base, first=na, second=nb),
        "same": base,
        "labels": replace(base, first=na, second=nb, labels=("", "mine")),
    }
    reports = {name: play_match(replace(one, output=tmp_path / name)) for name, one in matches.items()}
    assert [(one.first, one.second) for one in reports.values()] == [
        ("material.safetensors (10 nodes)", "material.safetensors (10 nodes, razor_margin=300)"),
        (f"{na} (10 nodes)", f"{nb} (10 nodes)"),
        (f"first {material} (10 nodes)", f"second {material} (10 nodes)"),
        (f"{na} (10 nodes)", "mine"),
    ]
    section = match_section([Run(name, tmp_path / name, read_run(tmp_path / name)) for name in matches])
    players = [(line[1], line[2]) for line in section.tables[0].lines]
    assert players == [(one.first, one.second) for one in reports.values()]


def test_a_player_scores_half_against_itself_and_loses_to_more_nodes(tmp_path, capsys):
    same = Match("default", "default", nodes=50, games=16, parallel=2, output=tmp_path / "same")
    report = play_match(same)
    assert report.pentanomial == (0, 0, 8, 0, 0)
    assert report.remarks == ("both players are the same, so each pair is one game played twice",)
    unequal = replace(same, nodes=4000, second_nodes=20, sprt=Sprt(0, 200), games=400, output=tmp_path / "unequal")
    report = play_match(unequal)
    assert report.sprt.verdict == "elo1"
    assert report.games < 100
    # Pairs after the deciding one are kept, and the same command has nothing to do.
    assert len(games_of(unequal.output)) == (report.games + report.games_beyond) // 2
    capsys.readouterr()
    assert play_match(unequal) == report
    assert "more games" not in capsys.readouterr().err


@pytest.mark.slow
def test_nearly_equal_players_are_even_by_side_and_colour(tmp_path):
    """A player against itself plays each game of a pair twice; one changed parameter makes the games differ."""
    other = ("reverse_futility_margin=88",)
    match = Match("default", "default", nodes=200, second_option=other, output=tmp_path)
    report = play_match(match)
    assert report.games == 1000
    assert sum(report.pentanomial) - report.pentanomial[2] > 100
    assert report.elo_low < 0 < report.elo_high
    # Black begins in half of the openings, so black's advantage is less than that of the first move.
    assert report.black_elo_high > -20
    assert report.black_elo_low < 30


def test_a_match_is_extended_and_other_options_are_refused(match, played, monkeypatch):
    before = games_of(match.output)
    longer = play_match(replace(match, games=30))
    assert longer.games == 30
    after = games_of(match.output)
    assert {number: after[number] for number in before} == before
    assert without_times(play_match(match)) == without_times(played) | {
        "games_beyond": 6,
        "remarks": ("6 more games are in the folder and are not counted",),
    }
    for change, words in (
        ({"nodes": 61}, "`nodes` 60, not 61"),
        ({"first_option": ("razor_margin=300",)}, "`first_option` razor_margin null, not "),
        ({"second_option": ("razor_margin=300",)}, "`second_option` razor_margin null, not "),
        ({"second_nodes": 41}, "`second_nodes` 40, not 41"),
        ({"second": match.first}, "other nets: "),
        ({"seed": 3}, "`seed` 1, not 3"),
    ):
        with pytest.raises(OptionError, match="holds a run with " + words):
            play_match(replace(match, **change))
    monkeypatch.setattr("experiments.matches.named_player.search_signature", lambda: SIGNATURE + 1)
    with pytest.raises(ValueError, match=f"another signature: {SIGNATURE}, not {SIGNATURE + 1}; "):
        play_match(match)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
def test_killed_and_interrupted_matches_resume_without_repeats(match, played, tmp_path):
    command = [sys.executable, "-c", UNHURRIED, "match", match.first, match.second, "--nodes", "60"]
    command += ["--second-nodes", "40", "--games", "24", "--parallel", "2", "-o", str(tmp_path)]
    for name in ("SIGKILL", "SIGINT"):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ledger, end = tmp_path / RESULTS, time.monotonic() + 100
        before = ledger.read_bytes().count(b"\n") if ledger.exists() else 0
        while (not ledger.exists() or ledger.read_bytes().count(b"\n") < before + 2) and time.monotonic() < end:
            time.sleep(0.002)
        process.send_signal(getattr(signal, name))
        _, errors = process.communicate(timeout=60)
        assert process.returncode == (-9 if name == "SIGKILL" else 130)
        assert name == "SIGKILL" or "run the same command again to resume" in errors
    assert without_times(play_match(replace(match, output=tmp_path))) == without_times(played)
    assert games_of(tmp_path) == {number: raw for number, raw in games_of(match.output).items() if number < 12}


def test_all_openings_of_a_file_are_played_before_one_is_repeated(match, tmp_path):
    lines = [f"startpos moves {moves}" for moves in ("7g7f", "2g2f 8c8d", "2g2f 3c3d", "5g5f")]
    path = tmp_path / "openings.sfen"
    path.write_text("\n".join([*lines, lines[0]]))
    orders = []
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        play_match(replace(match, openings=path, games=8, seed=seed, output=folder))
        starts = [raw[:32] for _, raw in sorted(games_of(folder).items())]
        assert len(set(starts)) == 4
        orders.append(starts)
    assert any(order != orders[0] for order in orders)
    many = replace(match, openings=path, games=10, output=tmp_path / "many")
    with pytest.raises(ValueError, match=r"4 openings, enough for 8 games, .* give more openings.*`random_plies`"):
        play_match(many)
    play_match(replace(many, random_plies=(2, 4)))
    assert len({raw[:32] for raw in games_of(many.output).values()}) == 5


def test_random_openings_are_balanced_and_given_openings_are_unchanged():
    player = Player(material_network(), nodes=10)
    settings = PairSettings(Ending(), ("startpos",), (1, 3), 100, 0.0, 1)
    worker, random = PairTask(player, player, settings).open(), np.random.default_rng(1)
    assert isinstance(worker, PairWorker)
    assert abs(worker._evaluate("startpos")) <= 100
    for side in "bw":
        assert abs(worker._evaluate(f"lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {side} - 1")) > 100
    with pytest.raises(ValueError, match="random openings can be played"):
        settings.opening(0, random, lambda _: None)
    assert replace(settings, random_plies=(0, 0)).opening(0, random, lambda _: None) == ("startpos", True)
    opening, is_even = settings.opening(0, random, lambda opening: 200 + len(opening))
    assert (len(opening.split()), is_even) == (3, False)  # the most even one, after a single random move


@pytest.mark.parametrize(("number", "random_plies"), [(21, (0, 0)), (18, (3, 4))])
def test_an_unplayable_opening_is_reported_before_the_first_game(match, tmp_path, number, random_plies):
    """Its move number plus the fewest random moves exceeds the longest game."""
    path = tmp_path / "openings.sfen"
    path.write_text(f"startpos moves 7g7f\n4k4/ppppppppp/9/9/9/9/PPPPPPPPP/9/4K4 b - {number}\n")
    late = replace(match, openings=path, games=4, max_moves=20, random_plies=random_plies, output=tmp_path / "late")
    with pytest.raises(ValueError, match=r"openings\.sfen line 2: the game is over \(move limit\)"):
        play_match(late)
    assert not late.output.exists()
    assert play_match(replace(late, max_moves=21)).games == 4


def test_the_balance_of_an_opening_does_not_depend_on_earlier_pairs(monkeypatch):
    player, seen = Player(load_network("default"), nodes=10), []
    task = PairTask(player, player, PairSettings(Ending(max_moves=12), ("startpos",), (8, 10), 100, 0.0, 1))
    worker = task.open()
    study = worker._studio.study
    monkeypatch.setattr(worker._studio, "study", lambda *asked: seen.append(study(*asked)) or seen[-1])
    worker.run(0)
    first = [scores.tolist() for scores, _ in seen]
    seen.clear()
    worker.run(0)
    assert [scores.tolist() for scores, _ in seen] == first


def test_random_moves_that_end_a_game_are_drawn_again():
    player = Player(material_network(), nodes=10)
    worker = PairTask(player, player, PairSettings(Ending(max_moves=7), ("startpos",), (6, 12), 100, 0.0, 1)).open()
    assert all(worker.run(number).counts["positions"] == 2 for number in range(8))


def test_compiling_does_not_count_in_the_time_of_a_pair():
    code = """
from experiments.games.compiled_game import play_game
from experiments.matches.pair import PairSettings
from experiments.matches.pair_task import PairTask
from experiments.games.player import Ending, Player
from search.evaluation.material import material_network
player = Player(material_network(), nodes=50, hash_mb=1)
worker = PairTask(player, player, PairSettings(Ending(max_moves=30), ("startpos",), (1, 3), 100, 0.0, 1)).open()
compiled = play_game.signatures
assert compiled
worker.run(0)
assert play_game.signatures == compiled
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_pair_of_a_league_does_not_compile_again(monkeypatch):
    player = Player(material_network(), nodes=10)
    task = PairTask(player, player, PairSettings(Ending(), ("startpos",), (1, 3), 100, 0.0, 1))
    task.open()
    monkeypatch.setattr(Duel, "play", lambda *_: pytest.fail("plays to compile"))
    task.open()


def test_options_reach_the_player(material):
    options = ("razor_margin=300", "Skip_Null_Move=true", "USI_Hash=3")
    named = read_player("default", options, 100, 0, "--first-option")
    player = named.player
    assert (dict(player.parameters), player.hash_mb, player.nodes) == ({"razor_margin": 300}, 3, 100)
    assert player.steps == EVERY_STEP & ~NULL_MOVE
    assert named.name(False) == "default (100 nodes, USI_Hash=3, razor_margin=300, skip_null_move=True)"
    assert read_player("liteshogi", (f"EvalFile={material}",), 0, 3, "").net == material
    draws = read_player("default", ("Draw_Value_Black=700", "Draw_Value_White=400"), 1, 0, "").by_alphabeta
    assert draws.draw_rates == (0.7, 0.4)
    for number, step in enumerate(STEPS):
        option = f"skip_{step.replace(' ', '_').replace('-', '_')}=true"
        assert read_player("default", (option,), 1, 0, "").player.steps == EVERY_STEP & ~(1 << number)


def test_a_parameter_set_to_its_default_also_applies_to_short_searches():
    named = read_player("default", ("Futility_Margin=120", "razor_base=502"), 100, 0, "")
    numbers = make_numbers(named.player.parameters)
    assert numbers["short"]["futility_margin"] == numbers["long"]["futility_margin"] == 120 != SHORT["futility_margin"]
    assert named.name(False) == "default (100 nodes, futility_margin=120)"  # the other parameter has no effect


@pytest.mark.parametrize(
    ("changes", "second"),
    [
        ({}, (20_000, 12)),
        ({"second_nodes": 10_000}, (10_000, 12)),
        ({"second_depth": 6}, (20_000, 6)),
        ({"second_nodes": 0, "second_depth": 6}, (0, 6)),
    ],
)
def test_the_second_player_has_the_limits_of_the_first_unless_it_has_its_own(match, changes, second):
    both = replace(match, **{"nodes": 20_000, "depth": 12, "second_nodes": None, **changes})
    assert both.limits() == ((20_000, 12), second)


def test_all_options_reach_the_games_and_their_description():
    named, lines = read_player("default", (), 5, 0, ""), ("startpos",)
    games = InProcessGames(nodes=5, random_plies=(2, 4))
    task, described = games.task(named, named, lines), games.deciding(lines, {})
    for change in (
        {"random_plies": (3, 4)},
        {"balance": 50},
        {"max_moves": 99},
        {"win_score": 600},
        {"played_out": 0.5},
        {"seed": 2},
    ):
        other = replace(games, **change)
        assert other.task(named, named, lines) != task
        assert other.deciding(lines, {}) != described
    for other in (replace(games, nodes=6), replace(games, depth=1)):
        assert other.deciding(lines, {}) != described
    assert games.deciding(("startpos moves 7g7f",), {}) != described != games.deciding(lines, {"first_option": {}})


def test_networks_and_this_engine_play_in_process(material):
    engine = sys.executable
    found = [plays_in_process(one) for one in ("default", material, "liteshogi", "missing.bin", engine, str(ROOT))]
    assert found == [True, True, True, True, False, False]
    assert not plays_in_process("liteshogi puct model.onnx")


def test_the_scale_of_an_nn_bin_is_an_option(tmp_path, nnue_content):
    path = tmp_path / "nn.bin"
    path.write_bytes(nnue_content("half_kp", 256, 32, 32))
    players = [read_player(str(path), options, 9, 0, "") for options in ((), ("FV_SCALE=24",))]
    assert [one.player.network.output_divisor for one in players] == [16, 24]


def test_options_say_how_the_network_of_a_player_is_read(match, tmp_path):
    architecture = "SFNN_kp_64_7_32_hand64z"
    content, path = network_bytes(architecture), tmp_path / "nn.bin"
    path.write_bytes(without_text(content))
    assert plays_in_process(str(path))
    player = read_player(str(path), (f"EvalArchitecture={architecture}",), 9, 0).by_alphabeta
    assert player.network.stacks.tokens == ("hand64z",)
    with pytest.raises(ValueError, match=r"name it \(EvalArchitecture\)"):
        play_match(replace(match, first=str(path), output=tmp_path / "new"))
    with pytest.raises(MissingSetting):
        read_player(str(path), None, 9, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"games": 7}, "`games` 7: must be even"),
        ({"games": 0}, "`games` 0: must be at least 2"),
        ({"second_nodes": -1}, "`second_nodes` -1: must be at least 0"),
        ({"second_nodes": 0}, "a move of each player needs a limit"),
        ({"random_plies": (5, 2)}, "`random_plies` 5 2: "),
        ({"random_plies": (0, 0), "balance": 50}, "`balance` 50: has no effect without `random_plies`"),
        ({"win_score": 0, "played_out": 0.5}, "`played_out` 0.5: has no effect without `win_score`"),
        ({"random_plies": (1, 1), "games": 400}, "`random_plies` 1 1: 85% of the openings would repeat"),
        ({"parallel": 0}, "`parallel` 0: must be at least 1"),
        ({"first_option": ("Threads=2",)}, ": Threads=2: a player in this process has no such option"),
        ({"second_option": ("razor_margn=2",)}, "razor_margn=2: .*did you mean razor_margin?"),
        ({"first_option": ("razor_margin=9999",)}, "razor_margin 9999 is outside 80 to 800"),
        ({"first_option": ("razor_margin",)}, "razor_margin: write NAME=VALUE"),
        ({"second_option": ("FV_SCALE=24",)}, "default: FV_SCALE=24: default is no nn.bin and has a scale"),
        ({"first": "missing.safetensors"}, "missing.safetensors: there is no such network"),
        ({"first": Path("missing.safetensors")}, "missing.safetensors: there is no such network"),
        ({"second": "/usr/bin/YaneuraOu"}, "and this is another engine; a match plays it by the clock"),
        ({"second": "liteshogi puct model.onnx"}, "and this is PUCT; a match plays it by the clock"),
        ({"openings": Path("missing.sfen")}, "missing.sfen"),
    ],
)
def test_invalid_matches_are_refused_before_a_folder_is_made(match, changes, words, tmp_path):
    with pytest.raises((ValueError, OSError), match=words.replace("?", "\\?")):
        play_match(replace(match, **changes, output=tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_a_folder_holds_a_match_in_process_or_one_by_the_clock(match, played):
    pytest.importorskip("shogiarena")
    with pytest.raises(OptionError, match="holds a run with the verb match, not match usi"):
        play_usi_match(UsiMatch("liteshogi", "liteshogi", output=match.output))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sprt", "0", "10"), "error: --sprt: is for matches in process; give --nodes or --depth too"),
        (("--second-nodes", "10"), "error: --second-nodes: is for matches in process; give --nodes or --depth too"),
        (
            ("--nodes", "9", "--byoyomi", "9"),
            "error: --byoyomi: a match with --nodes or --depth has no clock; leave out",
        ),
        (("--nodes", "9", "--increment", "9"), "error: --increment: a match with --nodes or --depth has no clock"),
        (
            ("--time", "9000", "--increment", "9", "--byoyomi", "9"),
            "error: --increment and --byoyomi: ShogiArena's clocks have one of them",
        ),
        (("--time", "1000", "--increment", "2000"), "error: --time 1000: less than --increment 2000, which"),
        (("--byoyomi", "0"), "error: --byoyomi 0: must be at least 1 where there is no other time"),
        (("--time", "-1"), "error: --time -1: must be at least 0"),
        (("--nodes", "9", "--sprt", "9", "1"), "error: --sprt 9 1: must be"),
    ],
)
def test_options_of_the_clock_and_of_counting_do_not_mix(options, words, tmp_path, capsys):
    assert _run(["match", "default", "default", "-o", str(tmp_path / "m"), *options]) == 1
    assert capsys.readouterr().err.startswith(words)
    assert not (tmp_path / "m").exists()
