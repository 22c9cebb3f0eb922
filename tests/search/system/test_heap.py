"""The number of the C library's heaps after threads have allocated at the same time, as the library reports it."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import ctypes, sys, threading
from search.system.heap import share_one_heap
if sys.argv[1] == "shared":
    share_one_heap()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
together = threading.Barrier(4)
def ask():
    together.wait()
    for _ in range(100):
        libc.malloc(ctypes.c_size_t(10_000))
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has no such heaps")
@pytest.mark.parametrize("how", ["shared", "each its own"])
def test_threads_share_one_heap_if_set(tmp_path: Path, how: str) -> None:
    heaps_file = tmp_path / "heaps.xml"
    subprocess.run([sys.executable, "-c", _PROGRAM, how, str(heaps_file)], check=True)
    heaps = heaps_file.read_text().count("<heap nr=")
    assert heaps == 1 if how == "shared" else heaps > 1
