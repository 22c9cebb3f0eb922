"""The judge's answers are asked for once, kept, and nobody else's."""

from __future__ import annotations

import cshogi
import pytest

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.protocol import Stopped
from experiments.judge.answers import Ledger, Opinion
from experiments.judge.choosers import read_judged
from experiments.judge.game_effects import GameEffectOptions
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedMatch
from experiments.judge.parameter_effects import EffectOptions
from experiments.usi_client.searcher import Searcher
from search.score import MATE

MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2"


def test_a_judge_is_asked_once(scripted, tmp_path):
    scripted.answer({"startpos": ["7g7f", "cp 40"], "startpos moves 7g7f": ["resign", None]})
    judging = Judging(judge=scripted.command, judge_nodes=7, ledger=tmp_path / "deep" / "ledger.jsonl")
    start = GamePosition("startpos")
    for _ in range(2):
        seat = judging.open().seat()
        assert seat.ask(start) == Opinion("7g7f", 40)
        assert seat.ask(start.after("7g7f")) == Opinion("resign", -MATE + 1)
        del seat  # and with it the ledger's lock
    assert scripted.asked() == ["startpos go nodes 7", "startpos moves 7g7f go nodes 7"]
    other_nodes = Judging(judge=scripted.command, judge_nodes=8, ledger=judging.ledger)
    assert other_nodes.open().seat().ask(start).score == 40
    assert scripted.asked()[2:] == ["startpos go nodes 8"]


def test_no_score_is_told_with_the_remedy(scripted, tmp_path):
    """Of the judge, and of an engine whose moves are judged."""
    scripted.answer({"else": ["7g7f", None]})
    start = GamePosition("startpos")
    seat = Judging(judge=scripted.command, ledger=tmp_path / "ledger.jsonl").open().seat()
    with pytest.raises(ValueError, match=r"the judge told no score of startpos .* without --judge-option PvInterval=0"):
        seat.ask(start)
    chooser = read_judged(scripted.command, (), 5, False).open()
    with pytest.raises(ValueError, match=r"the engine told no score of startpos .* without --option PvInterval=0"):
        chooser.search(start, 5)


def test_a_mated_mover_is_told_without_the_judge(scripted, tmp_path):
    board = cshogi.Board(MATED)
    assert board.is_game_over()
    seat = Judging(judge=scripted.command, ledger=tmp_path / "ledger.jsonl").open().seat()
    assert seat.ask(GamePosition.parse(MATED)) == Opinion("resign", -MATE)
    assert [seat.value(GamePosition("startpos"), move) for move in ("resign", "win")] == [(-MATE, ""), (MATE, "")]
    assert scripted.asked() == []


def test_another_judge_does_not_write_into_a_ledger(scripted, tmp_path):
    judging = Judging(judge=scripted.command, ledger=tmp_path / "ledger.jsonl")
    judging.open().seat().ask(GamePosition("startpos"))
    another = Judging(judge=scripted.command, judge_option=("Style=wild",), ledger=judging.ledger)
    with pytest.raises(ValueError, match=r"ledger.jsonl: holds the answers of another judge \(options"):
        another.open()
    with pytest.raises(ValueError, match=r"ledger.jsonl: holds the answers of another judge \(arguments"):
        Judging(judge=f"{scripted.command} --wild", ledger=judging.ledger).open()


def test_an_answer_that_was_cut_is_none(scripted, tmp_path, monkeypatch):
    judge = Judging(judge=scripted.command, ledger=tmp_path / "ledger.jsonl").open()
    seat, search = judge.seat(), Searcher.search
    monkeypatch.setattr(Searcher, "search", lambda self, *asked: seat.stop() or search(self, *asked))
    with pytest.raises(Stopped):
        seat.ask(GamePosition("startpos"))
    assert len(judge.ledger) == 0


def test_another_network_in_its_folder_is_another_judge(scripted, tmp_path):
    folder = tmp_path / "eval"
    folder.mkdir()
    (folder / "nn.bin").write_bytes(b"one")
    judging = Judging(scripted.command, (f"Style={folder}",), ledger=tmp_path / "ledger.jsonl")
    judging.open().seat().ask(GamePosition("startpos"))
    (folder / "nn.bin").write_bytes(b"two")
    with pytest.raises(ValueError, match=r"ledger.jsonl: holds the answers of another judge \(files is .*nn.bin"):
        judging.open()


def test_this_engine_with_another_search_is_another_judge(scripted, tmp_path):
    """Its program and network are the same; a ledger of before the signature was told is another's, too."""
    judging = Judging(judge=scripted.command, ledger=tmp_path / "ledger.jsonl")

    def ask(bench: str) -> int:
        scripted.answer({"name": "LiteShogi", "bench": bench, "else": ["7g7f", "cp 1"]})
        judging.open().seat().ask(GamePosition("startpos"))
        return len(scripted.asked())

    assert [ask("signature 669983  1,000 nodes/s"), ask("signature 669983  2,000 nodes/s")] == [1, 1]
    with pytest.raises(ValueError, match=r"another judge \(signature is 669983 there, here 669984\); name another"):
        ask("signature 669984  1,000 nodes/s")
    judging.ledger.unlink()
    assert [ask("1,000 playouts/s"), ask("2,000 playouts/s")] == [2, 2]
    with pytest.raises(ValueError, match=r"another judge \(signature is None there, here 669983\); name another"):
        ask("signature 669983  1,000 nodes/s")


def test_a_ledger_drops_a_line_that_a_crash_has_cut(tmp_path):
    path, opinion = tmp_path / "ledger.jsonl", Opinion("7g7f", -3)
    Ledger(path, {"name": "x"}).enter("startpos", 5, opinion)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"position":"sfen')
    ledger = Ledger(path, {"name": "x"})
    assert (len(ledger), ledger.find("startpos", 5), path.read_bytes()) == (1, opinion, whole)
    for _ in range(2):
        ledger.enter("startpos", 6, opinion)
    del ledger
    assert len(Ledger(path, {"name": "x"})) == len(path.read_bytes().splitlines()) - 1 == 2
    path.write_bytes(whole + b'{"position":"sfen"}\n')
    with pytest.raises(ValueError, match=r"ledger.jsonl line 3: no judge's answer"):
        Ledger(path, {"name": "x"})


def test_a_ledger_is_one_runs_at_a_time(tmp_path):
    path = tmp_path / "ledger.jsonl"
    refused = pytest.raises(ValueError, match=r"ledger.jsonl: another run is at work on it; .* another --ledger$")
    first, early = Ledger(path, {"name": "x"}), Ledger(path, {"name": "x"})
    assert not path.exists()
    first.enter("startpos", 5, Opinion("7g7f", -3))
    with refused:
        Ledger(path, {"name": "x"})
    with refused:
        early.enter("startpos", 6, Opinion("2g2f", 3))
    del first
    early.enter("startpos", 6, Opinion("2g2f", 3))
    assert early.find("startpos", 5) == Opinion("7g7f", -3)


def test_positions_come_with_the_turns_before_them(tmp_path):
    path = tmp_path / "positions.sfen"
    line = "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e"
    path.write_text(f"# two\n{line}\n{line}\n{cshogi.Board().sfen()}\n")
    first, second = read_positions(path)
    assert [before.moves for before in first.own_turns_before(4)] == [("7g7f",), ("7g7f", "3c3d", "2g2f")]
    assert [before.moves for before in first.own_turns_before(1)] == [("7g7f", "3c3d", "2g2f")]
    assert list(first.own_turns_before(0)) == []
    assert second.text == f"sfen {cshogi.Board().sfen()}"
    assert second.after("7g7f").text == f"sfen {cshogi.Board().sfen()} moves 7g7f"


def test_what_goes_on_has_a_folder_of_its_own():
    """Where no -o is given, too."""
    folders = [options.output for options in (EffectOptions, GameEffectOptions, JudgedMatch)]
    assert len(set(folders)) == len(folders)
