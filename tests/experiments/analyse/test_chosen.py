"""Games of folders: the choice of games, the paths of their outputs, and resuming an interrupted run."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.analyse import analyse
from experiments.analyse.analyse import Analysing, analyse_games
from experiments.analyse.annotated_kif import Judgement
from experiments.analyse.chosen import choose
from lite.notation.game import GameError
from liteshogi.commands.analyse import Command

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of one game, a file of four, an unreadable file, an earlier analysis, an empty file and other texts."""
    place = tmp_path / "games"
    (place / "deep").mkdir(parents=True)
    shutil.copy(DATA / "wcsc28.csa", place)
    shutil.copy(DATA / "scored.kifu", place / "deep")
    shutil.copy(DATA / "games.usi", place)
    (place / "broken.kif").write_text("手合割：平手\n   1 ７六歩(76)\n", encoding="utf-8")
    (place / "wcsc28.analysed.kif").write_text("")
    for name in ("notes.md", "README.txt"):
        (place / name).write_text("Two lines\nof no game\n")
    (place / "empty.usi").write_text("# nothing yet\n")
    return place


def test_outputs_have_the_folders_of_their_games(folder: Path, tmp_path: Path) -> None:
    found = list(choose((folder,), None, tmp_path / "out"))
    places = [one.output.relative_to(tmp_path / "out").as_posix() for one in found]
    assert places == [
        "broken.analysed.kif",
        "deep/scored.analysed.kif",
        "empty.analysed.kif",
        *(f"games-{number}.analysed.kif" for number in range(1, 5)),
        "wcsc28.analysed.kif",
    ]
    assert [isinstance(one.game, GameError) for one in found] == [True, False, True, *[False] * 5]
    assert not any(one.alone for one in found)
    assert next(choose((folder / "games.usi",), 3, None)).output == folder / "games-3.analysed.kif"
    twice = (folder / "wcsc28.csa", folder / "deep" / ".." / "wcsc28.csa")
    assert len(list(choose(twice, None, None))) == 1
    (beside,) = choose((folder / "wcsc28.csa",), None, None)
    assert (beside.output, beside.alone) == (folder / "wcsc28.analysed.kif", True)


def test_two_files_of_two_games_are_several_games(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.usi").write_text("startpos moves 7g7f 3c3d\nstartpos\n")
    found = list(choose((tmp_path / "one.usi", tmp_path / "two.usi"), None, None))
    assert [(isinstance(one.game, GameError), one.alone) for one in found] == [(False, False), (True, False)] * 2


def test_the_output_of_several_games_is_a_folder(folder: Path, tmp_path: Path) -> None:
    """An existing folder may have a suffix; a path that looks like a file is not made a folder."""
    for name in ("res.kif", "res.v2"):
        with pytest.raises(ValueError, match=rf"`output` .*{name}: .*several games"):
            list(choose((folder / "games.usi",), None, tmp_path / name))
        (tmp_path / name).mkdir()
        found = list(choose((folder / "games.usi",), None, tmp_path / name))
        assert found[0].output == tmp_path / name / "games-1.analysed.kif"


def test_no_two_games_have_the_same_output(folder: Path, tmp_path: Path) -> None:
    shutil.copy(DATA / "scored.kifu", folder / "wcsc28.kifu")
    shutil.copy(DATA / "games.usi", folder / "games-2.usi")
    places = [one.output for one in choose((folder,), None, None)]
    assert len(set(places)) == len(places)
    assert folder / "wcsc28.kifu.analysed.kif" in places
    assert [one.output for one in choose((folder,), None, None)] == places
    same = (folder / "wcsc28.csa", Path(shutil.copy(folder / "wcsc28.csa", tmp_path)))
    with pytest.raises(ValueError, match=r"wcsc28.csa: `output` .*out/wcsc28.analysed.kif"):
        list(choose((*same, Path(shutil.copy(same[0], folder / "deep"))), None, tmp_path / "out"))


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the searched games. Every search is empty, and Ctrl-C interrupts the fourth game."""
    places: list[str] = []

    def found(game: Any, *_: Any) -> list[Judgement]:
        places.append(Path(game.place.split()[0]).name)
        if cut := len(places) == 4:
            signal.raise_signal(signal.SIGINT)
        return [Judgement(0, 0.5, 1, 1, ())] * (len(game.moves) + 1 - cut)

    monkeypatch.setattr(analyse, "search_game", found)
    monkeypatch.setattr(analyse, "warm_up", lambda: None)
    monkeypatch.setattr(analyse, "draw_analysis", lambda report, path, fonts, words: path.touch())
    return places


def test_the_progress_of_several_games_is_in_one_language(
    folder: Path, searched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (games,) = folder.rglob("games.usi")
    analyse_games(Analysing("default", (games,), nodes=100, hash_mb=4, language="ja"))
    assert f"1局目: {games} 1行目\n" in capsys.readouterr().err
    assert searched[0] == "games.usi"


def test_an_interrupted_folder_is_resumed(folder: Path, searched: list[str]) -> None:
    options = Analysing("default", (folder,), nodes=100, hash_mb=4, language="en")
    (folder / "wcsc28.analysed.kif").unlink()
    first = analyse_games(options)
    assert searched == ["scored.kifu", *["games.usi"] * 3]
    assert first.interrupted
    assert len(first.games) == 3
    broken, empty = first.refused
    assert "broken.kif" in broken
    assert empty.startswith(f"{folder / 'empty.usi'}: holds no game")
    second = analyse_games(options)
    assert searched[4:] == ["games.usi", "games.usi", "wcsc28.csa"]
    assert len(second.skipped) == 3
    assert not second.interrupted
    assert len(analyse_games(options).skipped) == 6
    assert len(searched) == 7
    analyse_games(Analysing("default", (folder,), nodes=100, hash_mb=4, overwrite=True))
    assert len(searched) == 13
    for end in ("kif", "html", "png"):
        assert len(list(folder.rglob(f"*.analysed.{end}"))) == 6


def test_the_verb_fails_if_no_game_can_be_read(
    folder: Path, searched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = (folder / "broken.kif", folder / "empty.usi")
    with pytest.raises(ValueError, match="no game can be read"):
        Command("default", bad, language="en").run()
    assert "broken.kif" in capsys.readouterr().out
    Command("default", (*bad, folder / "wcsc28.csa")).run()  # already analysed
    assert searched == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_full_disk_leaves_no_files(folder: Path, searched: list[str], tmp_path: Path) -> None:
    import resource

    options = Analysing("default", (folder / "wcsc28.csa",), tmp_path / "out" / "game.kif", nodes=100, hash_mb=4)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))  # the KIF is smaller, the page larger
    try:
        with pytest.raises(OSError, match=r"game\.html"):
            analyse_games(options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "out").iterdir()) == []
    assert analyse_games(options).games


def test_a_missing_font_is_reported_once(
    folder: Path, searched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.kif").write_text("先手：羽生\n   1 ７六歩(77)\n   2 投了\n", encoding="utf-8")
    monkeypatch.setattr(analyse, "japanese_fonts", lambda: ["DejaVu Sans"])
    analyse_games(Analysing("default", (folder / "one.kif", folder / "two.kif"), nodes=100, hash_mb=4, language="en"))
    assert searched == ["one.kif", "two.kif"]
    assert capsys.readouterr().err.count("no Japanese font") == 1


def test_a_single_game_that_cannot_be_read_is_an_error(folder: Path, searched: list[str]) -> None:
    with pytest.raises(GameError, match=r"broken\.kif"):
        analyse_games(Analysing("default", (folder / "broken.kif",), nodes=100))
    with pytest.raises(GameError, match=r"empty\.usi: holds no game"):
        analyse_games(Analysing("default", (folder / "empty.usi",), nodes=100, language="en"))
    with pytest.raises(ValueError, match="already exists"):
        analyse_games(Analysing("default", (folder / "wcsc28.csa",), nodes=100))
    assert searched == []
