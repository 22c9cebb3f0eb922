"""Loss per move: measured by its definition for every kind of engine; runs are resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.games.game_position import GamePosition
from experiments.games.player import Player
from experiments.judge.choosers import OwnPlayer, choose_in_game, read_judged
from experiments.judge.judge import Judging
from experiments.judge.losses import LossOptions, VariantLoss, _variant, measure_losses
from experiments.judge.statistics import CLIP
from experiments.matches.named_player import read_player
from lite.datasets.provenance import sha256_of
from lite.run_folder import RESULTS, read_run
from liteshogi.commands.judge.moves import as_json, as_text
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import EVERY_STEP, NULL_MOVE, STEPS, make_numbers
from search.score import MATE, MAX_EVALUATION

ROOT = Path(__file__).parents[3]
LINES = ("startpos moves 7g7f 3c3d", "startpos moves 2g2f 8c8d", "startpos moves 5g5f 5c5d 2g2f 8c8d")


@pytest.fixture
def positions(tmp_path) -> Path:
    path = tmp_path / "positions.sfen"
    path.write_text("\n".join(LINES))
    return path


def test_a_loss_is_the_difference_of_the_judged_scores_after_both_moves(scripted, opponent, positions, tmp_path):
    first, second, third = LINES
    scripted.answer(
        {
            first: ["6g6f", "cp 99"],
            f"{first} 6g6f": ["x", "cp -30"],
            f"{first} 2g2f": ["x", "cp 120"],
            second: ["2f2e", "cp 50"],
            f"{second} 2f2e": ["x", "cp 10"],
            f"{second} 2h3h": ["x", "cp 20"],
            third: ["2f2e", "mate 9"],
            f"{third} 2f2e": ["x", "mate -8"],
            f"{third} 5f5e": ["x", "cp -2500"],
        }
    )
    opponent.answer({first: ["2g2f", "cp 0"], second: ["2h3h", "cp 0"], "else": ["5f5e", "cp 0"]})
    judging = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers", workers=2)
    options = LossOptions(opponent.command, positions, nodes=3, output=tmp_path / "run")
    report = measure_losses(options, judging)
    assert [row.losses for row in report.positions] == [(150,), (10,), (0,)]
    assert report.positions[2].best > CLIP
    variant = report.variants[0]
    assert (variant.loss, variant.error, variant.over_100, variant.over_200) == (53.3, 48.4, 0.3333, 0.0)
    assert variant.as_judge == 0.0
    assert [row.position for row in report.worst] == [first, second]
    assert "53.3 +- 48.4" in as_text(report)
    record = read_run(options.output)
    assert record.files == {str(path): sha256_of(path) for path in (positions, opponent.program, scripted.program)}
    asked = scripted.asked()
    assert len(asked) == 9  # three roots, three best moves, three other moves
    assert measure_losses(options, judging) == report
    assert measure_losses(replace(options, output=tmp_path / "again"), judging) == report
    assert scripted.asked() == asked
    assert not any("knowing more" in line for line in asked + opponent.asked())
    before = len(opponent.asked())
    measure_losses(replace(options, earlier=1, count=1, output=tmp_path / "one"), judging)
    assert opponent.asked()[before:] == ["startpos go nodes 3", f"{first} go nodes 3, knowing more"]


def test_figures_of_losses_by_hand():
    first, losses = np.array([0.0, 90.0, 500.0]), np.array([100.0, 200.0, 600.0])
    assert _variant("x", losses, first, np.array([True, False, False])) == VariantLoss(
        name="x",
        loss=300.0,
        error=152.8,
        over_100=0.6667,
        over_200=0.3333,
        over_400=0.3333,
        as_judge=0.3333,
        difference=103.3,
        difference_error=3.3,
    )
    alone = _variant("x", losses[:1], first[:1], np.array([True]))
    assert (alone.loss, alone.error, alone.difference, alone.difference_error) == (100.0, None, 100.0, None)


def test_an_engine_that_judges_itself_has_no_loss(positions, tmp_path, known_judge):
    judging = Judging(
        judge="liteshogi", judge_option=("USI_Hash=16",), judge_nodes=3000, answers=tmp_path / "answers", workers=1
    )
    options = LossOptions("default", positions, nodes=3000, each_step=True, output=tmp_path / "each")
    report = measure_losses(options, judging)
    assert [row.name for row in report.variants] == ["as it is", *(f"without {step}" for step in STEPS)]
    assert (report.variants[0].loss, report.variants[0].as_judge) == (0.0, 1.0)
    assert any(row.as_judge < 1 for row in report.variants[1:])
    alone = replace(options, each_step=False, option=("skip_null_move=true",), output=tmp_path / "one")
    one = measure_losses(alone, judging)
    place = STEPS.index("null move")
    assert [row.moves[0] for row in one.positions] == [row.moves[place + 1] for row in report.positions]


def test_earlier_positions_of_a_game_are_searched_first(scripted, tmp_path):
    engine = read_judged(scripted.command, ("Style=wild",), 4, False)
    assert engine.name == "Scripted (4 nodes, Style=wild)"
    scripted.answer({"else": ["8h2b+", "cp 0"]})
    game = GamePosition("startpos", ("7g7f", "3c3d", "2g2f", "8c8d"))
    assert choose_in_game(engine.open(), game, 4, 2, 0).move == "8h2b+"
    assert scripted.asked() == [
        "startpos go nodes 4",
        "startpos moves 7g7f 3c3d go nodes 4, knowing more",
        "startpos moves 7g7f 3c3d 2g2f 8c8d go nodes 4, knowing more",
    ]
    player = read_player("default", (), 700, 0, "option").player
    assert isinstance(player, Player)
    engine = AlphaBetaEngine("default", 16)
    trace: list[tuple[int, int, int]] = []
    for moves in game.moves[:0], game.moves[:2], game.moves:
        trace.clear()
        warm = engine.analyse(
            "startpos", moves, nodes=700, on_info=lambda line: trace.append((line.depth, line.nodes, line.score))
        )
    own = OwnPlayer("x", player, "default").open()
    found = choose_in_game(own, game, 700, 2, 0)
    assert (found.move, found.score, found.trace) == (warm.best_move, warm.score, trace)
    found, same = own.search(game, 700), engine.analyse("startpos", game.moves, nodes=700)
    assert (found.move, found.score) == (same.best_move, same.score)  # both have the same table


def test_a_variant_leaves_out_one_step():
    player = read_player("default", ("skip_probcut=true",), 9, 0, "option").player
    assert isinstance(player, Player)
    chooser = OwnPlayer("x", player, "default", True).open()
    chooser.forget(STEPS.index("null move") + 1)
    assert chooser._engine.steps == player.steps & ~NULL_MOVE != EVERY_STEP & ~NULL_MOVE
    chooser.forget(0)
    assert chooser._engine.steps == player.steps


def test_a_player_searches_with_its_options():
    options = ("futility_margin=300", "USI_Hash=3", "Draw_Value_White=1000")
    player = read_player("default", options, 9, 0, "option").by_alphabeta
    chooser = OwnPlayer("x", player, "default").open()
    assert chooser._engine.numbers.tobytes() == make_numbers({"futility_margin": 300}).tobytes()
    assert chooser._engine.table.megabytes == 3
    again = GamePosition.parse("startpos moves 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h")  # white can repeat it
    assert chooser.search(again, 200).score == MAX_EVALUATION
    mated = GamePosition.parse("4k4/4G4/4P4/9/9/9/9/9/4K4 w G2r2b2g4s4n4l17p 1")
    assert (chooser.search(mated, 200).move, chooser.search(mated, 200).score) == ("resign", -MATE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "liteshogi", "nodes": 0}, "`nodes` 0: must be at least 1"),
        ({"engine": "liteshogi", "nodes": 10**20}, "`nodes` 100000000000000000000: must be at most"),
        ({"engine": "liteshogi", "count": 0}, "`count` 0: must be at least 1"),
        ({"engine": "liteshogi", "earlier": -1}, "`earlier` -1: must be at least 0"),
        ({"engine": "default", "option": ("skip_all=true",)}, "`option` skip_all=true"),
        ({"engine": "no/such/engine"}, "there is no such engine"),
    ],
)
def test_invalid_options_of_losses_are_refused(options, words, scripted, positions, tmp_path):
    judging = Judging(judge=scripted.command, answers=tmp_path / "answers")
    with pytest.raises((ValueError, OSError), match=words):
        measure_losses(LossOptions(positions=positions, output=tmp_path / "run", **options), judging)
    with pytest.raises(ValueError, match="steps cannot be left out"):
        read_judged(scripted.command, (), 5, True)


def test_an_interrupted_run_is_resumed(scripted, positions, tmp_path):
    answers = tmp_path / "answers" / RESULTS
    scripted.answer({"seconds": 0.5})
    command = [sys.executable, "-m", "liteshogi", "judge", "moves", "default", str(positions), "--nodes", "50"]
    command += ["--judge", scripted.command, "--answers", str(answers.parent), "--json", "--workers", "1"]
    command += ["-o", str(tmp_path / "run")]

    def known() -> int:
        return len(answers.read_bytes().splitlines()) if answers.exists() else 0

    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 120
        while not known() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130, errors
    assert "run the same command again to resume" in errors
    assert read_run(tmp_path / "run").state == "interrupted"
    before, asked = known(), len(scripted.asked())
    assert 1 <= before < 6
    scripted.answer({})
    again = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=True)
    assert len(scripted.asked()) - asked == known() - before
    whole = Judging(scripted.command, answers=tmp_path / "whole-answers", workers=1)
    options = LossOptions("default", positions, nodes=50, output=tmp_path / "whole")
    assert json.loads(again.stdout) == json.loads(as_json(measure_losses(options, whole)))
    assert read_run(tmp_path / "run").state == "done"


def test_positions_beyond_the_count_do_not_stand_for_missing_ones(scripted, opponent, positions, tmp_path):
    for engine in (scripted, opponent):
        engine.answer({"else": ["5f5e", "cp 0"], **{line: ["1g1f", "cp 0"] for line in LINES}})
    judging = Judging(judge=scripted.command, judge_nodes=5, answers=tmp_path / "answers", workers=1)
    options = LossOptions(opponent.command, positions, nodes=3, output=tmp_path / "run")
    assert len(measure_losses(options, judging).positions) == 3
    results = tmp_path / "run" / RESULTS
    lines = results.read_text().splitlines(keepends=True)
    # As if another worker's position had been interrupted.
    results.write_text("".join(line for line in lines if json.loads(line).get("job") != 1))
    assert [row.job for row in measure_losses(replace(options, count=2), judging).positions] == [0, 1]
