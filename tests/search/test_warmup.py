"""The cache of compiled code: filled ahead, and cleared of what nobody uses."""

from __future__ import annotations

import os
import time

from search import warmup
from search.machine.cache_directory import note_use


def test_what_nobody_used_for_a_month_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(warmup, "CACHE_DIRECTORY", tmp_path / "plain-0123")
    month_ago = time.time() - 31 * 86400
    for name in ("plain-0123/search.bits-old", "plain-0123/search.bits-fresh", "vnni-old/lite.decode-old"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name).with_name("lock").touch()
    (tmp_path / "my-games" / "of-old").mkdir(parents=True)
    (tmp_path / "my-games" / "lock").touch()
    for path in (*tmp_path.glob("*/*-old"), *tmp_path.glob("*/of-old"), tmp_path / "vnni-old" / "lock"):
        os.utime(path, (month_ago, month_ago))
    assert warmup.remove_unused() == 2
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")}
    assert left == {"plain-0123/lock", "plain-0123/search.bits-fresh", "my-games/lock", "my-games/of-old"}
    assert not (tmp_path / "vnni-old").exists()


def test_a_use_is_noted_once_a_day(tmp_path):
    now = time.time()
    for age, changed in ((30 * 86400, True), (3600, False)):
        os.utime(tmp_path, (now - age, now - age))
        note_use(tmp_path, tmp_path.stat())
        # The kernel's stamp may be a tick older than time.time(): no moment is told from the one before it.
        assert (tmp_path.stat().st_mtime > now - 60) == changed
