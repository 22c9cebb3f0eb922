"""The picture of an analysed game: its labels do not overlap, and its moves can be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from cshogi import KIF

from experiments.analyse.annotated_kif import (
    names_of_moves,
)
from experiments.analyse.figures import figures
from experiments.analyse.picture import draw_analysis
from experiments.drawing.fonts import NOTATION, can_be_drawn, japanese_fonts
from tests.experiments.invented_analysis import DATA, GAMES, find_game, invented


def test_the_picture_shows_the_game(tmp_path):
    from matplotlib import image

    game, path = find_game(DATA / "scored.csa", 1), tmp_path / "deep" / "picture.png"
    fonts = japanese_fonts()
    draw_analysis(figures(game, invented(game, 4)), path, fonts)
    pixels = image.imread(path)
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 900
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 100
    assert [file.name for file in path.parent.iterdir()] == ["picture.png"]
    draw_analysis(figures(game, invented(game, 4)[:1]), path, fonts)  # only the first position
    draw_analysis(replace(figures(game, invented(game, 4)), names=("Carol $x_$", "$")), path, fonts)


def test_a_single_position_is_drawn_as_a_dot(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("experiments.analyse.picture.save_figure", lambda figure, path: drawn.append(figure))
    game = find_game(DATA / "scored.csa", 1)
    for count in (1, 2):
        draw_analysis(figures(game, invented(game, 4)[:count]), tmp_path / "picture.png", japanese_fonts())
    one, two = [[line for axes in figure.axes for line in axes.lines if line.get_marker() == "o"] for figure in drawn]
    assert [list(line.get_xdata()) for line in one] == [[0], [0]]
    assert not two


@pytest.mark.parametrize("seed", range(6))
def test_labels_of_the_picture_do_not_overlap(tmp_path, monkeypatch, seed):
    drawn = []
    monkeypatch.setattr("experiments.analyse.picture.save_figure", lambda figure, path: drawn.append(figure))
    game = find_game(DATA / "scored.csa", 1)
    draw_analysis(figures(game, invented(game, seed)), tmp_path / "picture.png", japanese_fonts())
    (figure,) = drawn
    figure.canvas.draw()
    boxes = [words.get_window_extent() for words in figure.axes[0].texts]
    assert len(boxes) > 2
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_without_a_japanese_font_moves_use_the_font_of_the_package(monkeypatch):
    from matplotlib import font_manager, get_data_path

    own = [font for font in font_manager.fontManager.ttflist if font.fname.startswith(get_data_path())]
    assert len(own) > 10
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    fonts = japanese_fonts()  # the fallback font of matplotlib has only frames for them
    assert fonts == ["DejaVu Sans", NOTATION]
    for name in GAMES:
        game = find_game(DATA / name, 1)
        assert all(can_be_drawn(move, fonts) for move in names_of_moves(game))
    assert all(can_be_drawn(name, fonts) for name, sfen in KIF.Parser.HANDYCAP_SFENS.items() if sfen)
    assert can_be_drawn("▲ きふわらべ", fonts)
    assert not can_be_drawn("羽生", fonts)
