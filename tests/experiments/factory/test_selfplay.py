"""Self-play: varied games that cshogi replays, each position once among the records, and each job once."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import cshogi
import numpy as np
import pytest

from experiments.factory.selfplay import SelfPlay, SelfPlayTask, UnmetGames, self_play
from experiments.games.openings import Openings
from experiments.games.player import Ending, Player, Variety
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from lite.datasets.chunks import ChunkReader, data_files
from lite.records.encode import position_hashes
from lite.records.formats import RecordError, game_dtype, move_dtype
from lite.run_folder import RunPlan
from liteshogi.commands.selfplay.alphabeta import Command
from search.evaluation.network_file import load_network

DECLARED = "+P+P+PK+P4/+P+P+P+P+P4/+P8/9/9/9/9/4k4/9 b 2R2B2G2S2N2L6P2g2s2n2lp 200"
QUICK = {"nodes": 40, "ending": Ending(max_moves=60), "variety": Variety(soft_plies=6), "random_plies": (0, 3)}


def games_of(folder: Path) -> list[bytes]:
    """Return each game's bytes without its candidates: first position, result, moves and scores."""
    return [game for path in sorted(folder.glob("*.hcpe3")) for game in games_of_bytes(path.read_bytes())]


def games_of_bytes(raw: bytes) -> list[bytes]:
    """Return each game's bytes from a file's content; check by cshogi that every move is legal."""
    games, at = [], 0
    while at < len(raw):
        head = np.frombuffer(raw, game_dtype, 1, at)[0]
        at += game_dtype.itemsize
        text = head["hcp"].tobytes() + bytes([head["result"]])
        board = cshogi.Board()
        board.set_hcp(np.frombuffer(head["hcp"].tobytes(), np.uint8).copy())
        for _ in range(int(head["moves"])):
            row = np.frombuffer(raw, move_dtype, 1, at)[0]
            at += move_dtype.itemsize + 4 * int(row["candidates"])
            move = board.move_from_move16(int(row["move"]))
            assert board.is_legal(move)
            board.push(move)
            text += row["move"].tobytes() + row["score"].tobytes()
        games.append(text)
    return games


def test_an_extended_run_keeps_its_games_and_adds_others(tmp_path):
    folder = tmp_path / "games"
    options = {**QUICK, "hash_mb": 1}
    first = self_play(SelfPlay("default", folder, 1500, workforce=Workforce(2), **options))
    games = games_of(folder)
    assert first.count("games") == len(games)
    more = self_play(SelfPlay("default", folder, first.count("positions") + 3000, workforce=Workforce(1), **options))
    assert more.count("positions") >= first.count("positions") + 3000
    after = games_of(folder)
    assert after[: len(games)] == games
    assert max(Counter(after).values()) == 1
    assert more.count("positions") + more.count("met before") >= sum((len(game) - 33) // 4 for game in after)
    hashes = np.concatenate([position_hashes(chunk.positions) for chunk in ChunkReader(data_files((folder,)))])
    assert len(hashes) == more.count("positions")
    # Two positions in one slot of the table replace each other.
    assert len(hashes) - len(np.unique(hashes)) < len(hashes) / 2000


def test_another_seed_plays_other_moves():
    player, variety = (
        Player(load_network("default"), 40, hash_mb=1),
        Variety(12, soft_margin=200, soft_temperature=100.0),
    )
    task = SelfPlayTask(player, Openings(), Ending(max_moves=16), variety, 0.0, 1, 1)
    assert len({dataclasses.replace(task, seed=seed).open().run(0).content for seed in (1, 2, 3)}) > 1


def test_all_options_reach_the_games_and_their_description(tmp_path, monkeypatch):
    made: list[tuple[object, ...]] = []
    monkeypatch.setattr("experiments.factory.selfplay.produce", lambda *given: made.append(given) or {})
    openings = tmp_path / "openings.sfen"
    openings.write_text("startpos moves 7g7f\nstartpos\n")
    options = SelfPlay(
        "dense-64-16", tmp_path, 9, 0, 3, openings, (1, 2), Variety(3), Ending(win_score=900), 0.5, 2, 5, Workforce(1)
    )
    self_play(options)
    (_, plan, task, *_) = made[0]
    assert isinstance(plan, RunPlan)
    assert isinstance(task, SelfPlayTask)
    assert np.array_equal(task.player.network.rows, load_network("dense-64-16").rows)
    assert (task.player.nodes, task.player.depth, task.player.hash_mb) == (0, 3, 2)
    assert task.openings == Openings(("startpos moves 7g7f", "startpos"), 1, 2)
    assert (task.ending, task.variety, task.played_out) == (options.ending, options.variety, 0.5)
    assert (task.games, task.seed) == (1, 5)  # a game by depth takes about as long as a job may take
    games = [SelfPlay(nodes=nodes).games_a_job() for nodes in (1, 1000, 10**6)]
    assert games == [200, 25, 1]
    assert plan.options["openings"] == hashlib.sha256("\n".join(task.openings.lines).encode()).hexdigest()
    assert [(net.role, net.name) for net in plan.nets] == [("net", "dense-64-16")]
    assert not {"output", "positions", "workforce", "variety", "ending"} & plan.options.keys()


def test_later_jobs_have_more_games_and_begin_with_empty_tables(monkeypatch):
    task = SelfPlayTask(Player(load_network("default"), 9), Openings(), Ending(), Variety(), 0.25, 3, 1)
    worker, done = task.open(), []
    played = SimpleNamespace(hcpe3=lambda: b"x", counts=lambda: {"games": 1})
    worker._duel = SimpleNamespace(  # type: ignore[assignment]
        forget=lambda: done.append("forgets"),
        is_over=lambda _: False,
        play=lambda _, seed, play_out: done.append(play_out) or played,
    )
    made = [worker.run(number) for number in (0, 7, 8, 16, 99)]
    assert [one.counts["games"] for one in made] == [len(one.content) for one in made] == [1, 1, 2, 3, 3]
    assert [one == "forgets" for one in done] == [one for count in (1, 1, 2, 3, 3) for one in [True] + [False] * count]
    done.clear()
    for number in range(16, 116):
        worker.run(number)
    assert 0.15 < done.count(True) / 300 < 0.35


def test_the_json_option_does_not_change_the_run(tmp_path):
    for printed_as_json in (True, False):
        command = Command("default", tmp_path, 20, workforce=Workforce(1), json=printed_as_json, hash_mb=1, **QUICK)
        assert self_play(command).count("positions") >= 20


def test_about_the_requested_number_of_positions_is_made(tmp_path):
    """A longer run begins with the games of a shorter one, whether it is resumed or not."""
    longer, other = tmp_path / "longer", tmp_path / "other"
    for folder, positions in ((longer, 200), (longer, 1500), (other, 1500)):
        workforce = Workforce(2, in_order=True)
        report = self_play(SelfPlay("default", folder, positions, workforce=workforce, hash_mb=1, **QUICK))
        assert positions <= report.count("positions") < 1.5 * positions
    assert games_of(longer) == games_of(other)


def test_endlessly_repeated_games_are_an_error(tmp_path):
    options = {**QUICK, "variety": Variety(), "random_plies": (0, 0)}
    options["ending"] = Ending(max_moves=4)
    with pytest.raises(ValueError, match="1,000 positions will not be reached; request fewer, or more variety"):
        self_play(SelfPlay("default", tmp_path, 1000, workforce=Workforce(2), hash_mb=1, **options))


def test_games_in_an_unfinished_shard_are_known(tmp_path):
    self_play(SelfPlay("default", tmp_path / "games", 500, workforce=Workforce(1), hash_mb=1, **QUICK))
    (shard,) = (tmp_path / "games").glob("*.hcpe3")
    content = shard.read_bytes()
    shard.rename(shard.with_name(shard.name + ".part"))
    unmet = UnmetGames(tmp_path / "games")
    unmet.recall()
    games = games_of_bytes(content)
    positions = sum((len(game) - 33) // 4 for game in games)
    product = Product(content, {"games": len(games), "positions": positions})
    counts = {"games": 0, "games met before": len(games), "positions": 0, "met before": positions}
    assert unmet(product).counts == counts


def test_a_damaged_shard_is_an_error(tmp_path):
    self_play(SelfPlay("default", tmp_path / "games", 100, workforce=Workforce(1), hash_mb=1, **QUICK))
    (shard,) = (tmp_path / "games").glob("*.hcpe3")
    shard.write_bytes(shard.read_bytes()[:-5])
    with pytest.raises(RecordError, match=r"shard_.*: game at byte \d+: "):
        UnmetGames(tmp_path / "games").recall()


def test_openings_of_finished_games_are_skipped(tmp_path):
    openings = tmp_path / "openings.sfen"
    openings.write_text(f"{DECLARED}\nstartpos\n")
    options = {**QUICK, "random_plies": (0, 0)}
    report = self_play(
        SelfPlay("default", tmp_path / "games", 300, openings=openings, workforce=Workforce(1), hash_mb=1, **options)
    )
    assert report.count("games") > 1
    openings.write_text(f"{DECLARED}\n")
    with pytest.raises(ValueError, match="random openings can be played"):
        self_play(SelfPlay("default", tmp_path / "none", openings=openings, workforce=Workforce(1), **options))


def test_invalid_options_are_refused(tmp_path):
    for wrong, words in (
        ({"random_plies": (5, 2)}, "`random_plies` 5 2"),
        ({"nodes": 0}, "`nodes` or `depth`"),
        ({"played_out": 2.0}, "`played_out` 2.0"),
        ({"positions": 0}, "`positions` 0"),
        ({"seed": -1}, "`seed` -1: must be at least 0"),
        ({"random_plies": (0, 10**21)}, "`random_plies` 10{21}: must be at most 1,000"),
        ({"hash_mb": 10**7}, "`hash_mb` 10000000: must be at most 1,048,576"),
        ({"ending": Ending(max_moves=0)}, "`max_moves` 0: must be at least 1"),
        ({"ending": Ending(win_plies=0)}, "`win_plies` 0: must be at least 1"),
        ({"ending": Ending(win_plies=3)}, "`win_plies` 3: has no effect without `win_score`"),
        ({"ending": Ending(draw_from=3)}, "`draw_from` 3: has no effect without `draw_plies`"),
        ({"ending": Ending(), "played_out": 0.5}, "`played_out` 0.5: has no effect without `win_score`"),
        ({"variety": Variety(soft_lines=3)}, "`soft_lines` 3: has no effect without `soft_plies`"),
        ({"variety": Variety(soft_margin=9)}, "`soft_margin` 9: has no effect without `soft_plies`"),
        ({"variety": Variety(soft_temperature=9.0)}, "`soft_temperature` 9.0: has no effect without `soft_plies`"),
        ({"ending": Ending(declaration="CSARule28")}, "`declaration` CSARule28: choose one of NoEnteringKing"),
    ):
        with pytest.raises(ValueError, match=words):
            self_play(SelfPlay(output=tmp_path, **wrong))
