"""A judge is asked once for a position; its answers are stored, separately for each judge."""

from __future__ import annotations

import importlib
import pickle
import shutil
from dataclasses import fields
from pathlib import Path

import cshogi
import pytest

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.protocol import Stopped
from experiments.judge.answers import Answer, Answers, Opinion
from experiments.judge.choosers import read_judged
from experiments.judge.game_effects import GameEffectOptions
from experiments.judge.health import HealthOptions
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedMatch
from experiments.judge.losses import LossOptions
from experiments.judge.parameter_effects import EffectOptions
from experiments.judge.refutations import RefutationOptions
from experiments.judge.selection import Selection
from experiments.usi_client.searcher import Searcher
from lite.run_folder import RESULTS, read_lines
from liteshogi.verbs import VERBS
from search.score import MATE

MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2"


def test_a_judge_is_asked_once(scripted, tmp_path):
    scripted.answer({"startpos": ["7g7f", "cp 40"], "startpos moves 7g7f": ["resign", None]})
    judging = Judging(judge=scripted.command, judge_nodes=7, answers=tmp_path / "deep" / "answers")
    start = GamePosition("startpos")
    for _ in range(2):
        seat = judging.open().seat()
        assert seat.ask(start) == Opinion("7g7f", 40)
        assert seat.ask(start.after("7g7f")) == Opinion("resign", -MATE + 1)
        del seat  # releases the lock of the ledger
    assert scripted.asked() == ["startpos go nodes 7", "startpos moves 7g7f go nodes 7"]
    other_nodes = Judging(judge=scripted.command, judge_nodes=8, answers=judging.answers)
    assert other_nodes.open().seat().ask(start).score == 40
    assert scripted.asked()[2:] == ["startpos go nodes 8"]


def test_a_missing_score_is_reported_with_a_solution(scripted, tmp_path):
    """This holds for the judge and for an engine whose moves are judged."""
    scripted.answer({"else": ["7g7f", None]})
    start = GamePosition("startpos")
    seat = Judging(judge=scripted.command, answers=tmp_path / "answers").open().seat()
    with pytest.raises(ValueError, match=r"the judge gave no score of startpos .* without judge_option PvInterval=0"):
        seat.ask(start)
    chooser = read_judged(scripted.command, (), 5, False).open()
    with pytest.raises(ValueError, match=r"the engine gave no score of startpos .* without option PvInterval=0"):
        chooser.search(start, 5)


def test_a_mated_position_is_answered_without_the_judge(scripted, tmp_path):
    board = cshogi.Board(MATED)
    assert board.is_game_over()
    seat = Judging(judge=scripted.command, answers=tmp_path / "answers").open().seat()
    assert seat.ask(GamePosition.parse(MATED)) == Opinion("resign", -MATE)
    assert [seat.value(GamePosition("startpos"), move) for move in ("resign", "win")] == [(-MATE, ""), (MATE, "")]
    assert scripted.asked() == []


def test_a_ledger_of_another_judge_is_refused(scripted, tmp_path):
    judging = Judging(judge=scripted.command, answers=tmp_path / "answers")
    judging.open().seat().ask(GamePosition("startpos"))
    another = Judging(judge=scripted.command, judge_option=("Style=wild",), answers=judging.answers)
    with pytest.raises(ValueError, match=r"`answers` .*: holds a run with another judge: options Style"):
        another.open()
    with pytest.raises(ValueError, match=r"holds a run with another judge: arguments "):
        Judging(judge=f"{scripted.command} --wild", answers=judging.answers).open()


def test_an_interrupted_answer_is_not_stored(scripted, tmp_path, monkeypatch):
    judge = Judging(judge=scripted.command, answers=tmp_path / "answers").open()
    seat, search = judge.seat(), Searcher.search
    monkeypatch.setattr(Searcher, "search", lambda self, *asked: seat.stop() or search(self, *asked))
    with pytest.raises(Stopped):
        seat.ask(GamePosition("startpos"))
    assert len(judge.answers) == 0


def test_another_network_in_the_folder_is_another_judge(scripted, tmp_path):
    folder = tmp_path / "eval"
    folder.mkdir()
    (folder / "nn.bin").write_bytes(b"one")
    judging = Judging(scripted.command, (f"Style={folder}",), answers=tmp_path / "answers")
    judging.open().seat().ask(GamePosition("startpos"))
    (folder / "nn.bin").write_bytes(b"two")
    with pytest.raises(ValueError, match=r"holds a run with another judge: files nn.bin"):
        judging.open()


def test_liteshogi_with_another_signature_is_another_judge(scripted, tmp_path):
    """Program and network are the same. Answers without a signature also belong to another judge."""
    judging = Judging(judge=scripted.command, answers=tmp_path / "answers")

    def ask(bench: str) -> int:
        scripted.answer({"name": "LiteShogi", "bench": bench, "else": ["7g7f", "cp 1"]})
        judging.open().seat().ask(GamePosition("startpos"))
        return len(scripted.asked())

    assert [ask("signature 669983  1,000 nodes/s"), ask("signature 669983  2,000 nodes/s")] == [1, 1]
    with pytest.raises(ValueError, match=r'another judge: signature "669983", not "669984"'):
        ask("signature 669984  1,000 nodes/s")
    shutil.rmtree(judging.answers)
    assert [ask("1,000 playouts/s"), ask("2,000 playouts/s")] == [2, 2]
    with pytest.raises(ValueError, match=r'another judge: signature null, not "669983"'):
        ask("signature 669983  1,000 nodes/s")


def test_a_torn_answer_is_dropped(tmp_path):
    path, opinion = tmp_path / RESULTS, Opinion("7g7f", -3)
    Answers(tmp_path, {"name": "x"}).enter(Answer("startpos", 5, "7g7f", -3))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind":"answer","position":"sfen')
    answers = Answers(tmp_path, {"name": "x"})
    assert (len(answers), answers.find("startpos", 5), path.read_bytes()) == (1, opinion, whole)
    for _ in range(2):
        answers.enter(Answer("startpos", 6, "7g7f", -3))
    del answers
    assert len(Answers(tmp_path, {"name": "x"})) == len(path.read_bytes().splitlines()) == 2
    path.write_bytes(whole + b'{"kind":"answer","position":"sfen"}\n')
    with pytest.raises(ValueError, match=r"results.jsonl: line 2: nodes, move, score must be given"):
        Answers(tmp_path, {"name": "x"})


def test_the_answers_are_used_by_one_process_at_a_time(tmp_path):
    folder = tmp_path / "answers"
    refused = pytest.raises(ValueError, match="another run is at work here")
    first, early = Answers(folder, {"name": "x"}), Answers(folder, {"name": "x"})
    assert not folder.exists()
    first.enter(Answer("startpos", 5, "7g7f", -3))
    with refused:
        Answers(folder, {"name": "x"})
    with refused:
        early.enter(Answer("startpos", 6, "2g2f", 3))
    first.close()
    early.enter(Answer("startpos", 6, "2g2f", 3))
    assert early.find("startpos", 5) == Opinion("7g7f", -3)


def test_a_copy_on_another_machine_returns_its_answers(scripted, tmp_path):
    scripted.answer({"else": ["7g7f", "cp 40"]})
    with Judging(judge=scripted.command, judge_nodes=7, answers=tmp_path / "answers").open() as judge:
        judge.seat().ask(GamePosition("startpos"))
        copy = pickle.loads(pickle.dumps(judge)).seat()
        start = GamePosition("startpos")
        assert copy.ask(start) == Opinion("7g7f", 40)
        assert copy.fresh() == ()
        copy.ask(start.after("7g7f"))
        (answer,) = copy.fresh()
        assert (answer.position, copy.fresh()) == ("startpos moves 7g7f", ())
        judge.keep(answer)
        assert judge.seat().ask(start.after("7g7f")) == Opinion("7g7f", 40)
    assert len(scripted.asked()) == 2
    assert len(list(read_lines(tmp_path / "answers", Answer))) == 2


def test_positions_have_the_earlier_turns_of_the_mover(tmp_path):
    path = tmp_path / "positions.sfen"
    line = "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e"
    path.write_text(f"# two\n{line}\n{line}\n{cshogi.Board().sfen()}\n")
    first, second = read_positions(path)
    assert [before.moves for before in first.own_turns_before(4)] == [("7g7f",), ("7g7f", "3c3d", "2g2f")]
    assert [before.moves for before in first.own_turns_before(1)] == [("7g7f", "3c3d", "2g2f")]
    assert list(first.own_turns_before(0)) == []
    assert second.text == f"sfen {cshogi.Board().sfen()}"
    assert second.after("7g7f").text == f"sfen {cshogi.Board().sfen()} moves 7g7f"


def test_resumable_verbs_have_their_own_folders():
    """Default folders differ between the verbs."""
    kinds = (EffectOptions, GameEffectOptions, JudgedMatch, LossOptions, RefutationOptions, HealthOptions, Selection)
    folders = [options.output for options in kinds]
    assert len(set(folders)) == len(folders)
    assert {folder.parent for folder in folders} == {Path("runs/judge")}


@pytest.mark.parametrize("kind", VERBS["judge"].kinds)
def test_every_judgement_has_a_folder_named_by_its_kind(kind):
    command = importlib.import_module(f"liteshogi.commands.judge.{kind}").Command
    assert {one.name: one.default for one in fields(command)}["output"] == Path("runs/judge") / kind
