"""The streams of a USI session: lines in, lines out, and an end that nothing which is under way holds up."""

from __future__ import annotations

import contextlib
import locale
import os
import queue
import select
import threading
import time
from collections.abc import Iterator
from typing import TextIO

MAX_LINE = 1 << 20
"""Characters of a line that is read."""
FAREWELL_SECONDS = 0.9
"""How long `quit` or the end of input waits for what is under way, as long as somebody reads the answers."""
SCRIPT_SECONDS = 3.0
"""Input that ends when the process is younger than this came from a script, all at once: it is obeyed to its end."""
SCRIPT_PATIENCE = 300.0
"""But not for ever."""


class Output:
    """Whole lines to a stream from several threads; a closed pipe ends the process."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (ValueError, OSError):
                os._exit(0)  # nobody listens; threads may be deep in compiled code


def read_lines(stream: TextIO | None) -> Iterator[str]:
    """Lines until the end of a stream or an error of it; of a line that is too long the beginning alone is kept."""
    while stream is not None:
        try:
            line = stream.readline(MAX_LINE + 2)
            rest = line
            while rest and not rest.endswith("\n"):
                rest = stream.readline(MAX_LINE)
        except (ValueError, OSError):  # closed, or the terminal is gone
            return
        if not line:
            return
        yield line if line.isascii() else _as_meant(line)


def _as_meant(line: str) -> str:
    """A line in UTF-8 or, where its bytes are none, in the system's encoding or Shift_JIS, as some GUIs write."""
    sent = line.encode("utf-8", "surrogateescape")
    for encoding in ("utf-8", locale.getencoding(), "cp932"):
        with contextlib.suppress(UnicodeDecodeError):
            return sent.decode(encoding)
    return sent.decode("utf-8", "replace")


def listen(stream: TextIO | None, heard: queue.SimpleQueue[str | None]) -> None:
    """Pass lines on to who obeys them; see that the process ends soon after the last one, whatever is under way."""
    begun = time.monotonic()
    for line in read_lines(stream):
        heard.put(line)
        if line.split(maxsplit=1)[:1] == ["quit"]:
            break
    heard.put(None)
    ended = time.monotonic()
    patience = SCRIPT_PATIENCE if ended - begun < SCRIPT_SECONDS else FAREWELL_SECONDS
    while time.monotonic() - ended < patience and not _reader_is_gone():
        time.sleep(0.02)
    os._exit(0)


def _reader_is_gone() -> bool:
    """Whether nobody can read standard output any more; False where the system does not tell."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(1, 0)
    return bool(poll.poll(0))
