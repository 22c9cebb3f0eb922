"""The streams of a USI session: lines in, lines out, and a prompt end whatever is running."""

from __future__ import annotations

import contextlib
import locale
import math
import os
import queue
import select
import threading
import time
from collections.abc import Iterator
from typing import TextIO

MAX_LINE = 1 << 20
"""Most characters of a line that is read."""
FAREWELL_SECONDS = 0.9
"""Seconds that `quit` or the end of input waits for running work while the answers have a reader."""
SCRIPT_SECONDS = 3.0
"""Input that ends this soon after the start of the process came from a script: all of its commands are finished."""
SCRIPT_PATIENCE = 300.0
"""Most seconds that the end of a script's input waits."""
_LONGEST_MESSAGE = 400
"""Most characters of a message to the user; the middle of a longer one is left out."""


def info_string(text: str) -> str:
    """Return a message to the user as an `info string` line.

    Some readers decode the output as UTF-8, others as Shift_JIS (cshogi), and a path may be valid in neither: all of
    them read ASCII.
    """
    text = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    if len(text) > _LONGEST_MESSAGE:
        text = text[: _LONGEST_MESSAGE // 2] + " ... " + text[-_LONGEST_MESSAGE // 2 :]
    return f"info string {text}"


class Output:
    """Writes a line, or several with line breaks between them, to a stream from several threads.

    A closed pipe ends the process.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (ValueError, OSError):
                os._exit(0)  # there is no reader; threads may be inside compiled code


def decoded_lines(stream: TextIO | None) -> Iterator[str]:
    """Yield lines until the end of the stream or an error; of a line that is too long only the beginning is kept."""
    while stream is not None:
        try:
            line = stream.readline(MAX_LINE + 2)
            rest = line
            while rest and not rest.endswith("\n"):
                rest = stream.readline(MAX_LINE)
        except (ValueError, OSError):  # closed, or the terminal has disappeared
            return
        if not line:
            return
        yield line if line.isascii() else decode_line(line.encode("utf-8", "surrogateescape"))


def decode_line(sent: bytes) -> str:
    """Decode a line as UTF-8, else in the system's encoding or Shift_JIS, which some GUIs and engines write."""
    for encoding in ("utf-8", locale.getencoding(), "cp932"):
        with contextlib.suppress(UnicodeDecodeError):
            return sent.decode(encoding)
    return sent.decode("utf-8", "replace")


class Input:
    """The lines of a stream. A thread reads them, and ends the process soon after the last one, whatever is running."""

    def __init__(self, stream: TextIO | None) -> None:
        self.deadline = math.inf
        """Time (`time.monotonic()`) at which the process ends at the latest, once the last line was read."""
        self._heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(stream,), daemon=True).start()

    def __iter__(self) -> Iterator[str]:
        return iter(self._heard.get, None)

    def _listen(self, stream: TextIO | None) -> None:
        begun = time.monotonic()
        for line in decoded_lines(stream):
            self._heard.put(line)
            if line.split(maxsplit=1)[:1] == ["quit"]:
                break
        ended = time.monotonic()
        self.deadline = ended + (SCRIPT_PATIENCE if ended - begun < SCRIPT_SECONDS else FAREWELL_SECONDS)
        self._heard.put(None)
        while time.monotonic() < self.deadline and not _reader_is_gone():
            time.sleep(0.02)
        os._exit(0)


def _reader_is_gone() -> bool:
    """Whether the reader of standard output has closed it; False if the system cannot say."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(1, 0)
    return bool(poll.poll(0))
