"""Diagrams against those of YaneuraOu 9.70."""

from __future__ import annotations

import pytest

from search.rules.diagram import draw
from search.rules.sfen import position_from_sfen

YANEURAOU = (
    """\
^香 口 口 口 口 口 口^桂^香
 口 口 口 口 口 と 口^金^玉
 口 口^桂^歩 口 銀 口 口 口
^歩 口^歩 口 口 口 口 歩^歩
 口 口 口 歩 口 口 銀^歩 口
 口 歩 歩^角 口 口 歩 口 歩
 歩 口 口 口 口 口 金 銀 口
 飛 口 口 口 口 口 口 口 口
 香 桂 口 口 口 口^角 玉 香
先手 手駒 :  飛 金 , 後手 手駒 :  歩5 桂 銀 金
手番 = 後手
sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1""",
    """\
 口 と 口 玉 口 口 口 口 口
 と 口 口 金 と 全 口 口 口
 口 龍 と 口 杏 口 圭 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口^杏 口 口^圭 口^と
 口^金 口^全^と 口 口^玉 口
 口 口^と 口^龍 口 口 口 口
先手 手駒 :  歩5 香2 桂2 銀 角 金 , 後手 手駒 :  歩3 銀 角 金
手番 = 先手
sfen 1+P1K5/+P2G+P+S3/1+R+P1+L1+N2/9/9/9/3+l2+n1+p/1g1+s+p2k1/2+p1+r4 b BGS2N2L5Pbgs3p 200""",
    """\
 口 口 口 口^玉 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口^馬 口 口 口 口 口 口 口
 口 口 口 口 玉 口 口 口 馬
先手 手駒 :  歩9 香4 桂4 銀4 飛2 金4 , 後手 手駒 :  歩9
手番 = 先手
sfen 4k4/9/9/9/9/9/9/1+b7/4K3+B b 2R4G4S4N4L9P9p 1""",
    """\
^香^桂^銀^金^玉^金^銀^桂^香
 口^飛 口 口 口 口 口^角 口
^歩^歩^歩^歩^歩^歩^歩^歩^歩
 口 口 口 口 口 口 口 口 口
 口 口 口 口 口 口 口 口 口
 口 口 歩 口 口 口 口 口 口
 歩 歩 口 歩 歩 歩 歩 歩 歩
 口 角 口 口 口 口 口 飛 口
 香 桂 銀 金 玉 金 銀 桂 香
先手 手駒 :  , 後手 手駒 :\x20
手番 = 後手
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2""",
)


@pytest.mark.parametrize("shown", YANEURAOU)
def test_the_diagram_equals_that_of_yaneuraou(shown: str) -> None:
    sfen = shown.splitlines()[-1].removeprefix("sfen ")
    assert draw(position_from_sfen(sfen)) == shown
