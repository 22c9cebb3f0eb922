"""USI sessions for tests, with a real process behind pipes or in this process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from search.usi.adapter import Adapter
from search.usi.session import Session as UsiSession

PATIENCE = 240.0
"""Limit of an answer in seconds; long enough for a busy machine and an empty cache."""


class Session:
    """The lines sent and received, in order; the two kinds of session implement `send`."""

    patience = PATIENCE

    def __init__(self) -> None:
        self.transcript: list[str] = []
        self._unread: list[str] = []
        self._arrived = threading.Condition()
        self._ended = False
        self._settled = 0

    def send(self, *lines: str) -> Session:
        raise NotImplementedError

    def receive(self, text: str | None) -> None:
        """Receive one or more lines; None at the end of the stream."""
        with self._arrived:
            if text is None:
                self._ended = True
            else:
                lines = text.split("\n")
                self._unread += lines
                self.transcript += ["< " + line[:300] for line in lines]
            del self.transcript[:-200]
            self._arrived.notify_all()

    def until(self, beginning: str) -> list[str]:
        """Take the lines up to the first with this prefix. AssertionError if none comes."""
        end = time.monotonic() + self.patience
        with self._arrived:
            looked_at = 0
            while True:
                for number in range(looked_at, len(self._unread)):
                    if self._unread[number].startswith(beginning):
                        taken, self._unread = self._unread[: number + 1], self._unread[number + 1 :]
                        return taken
                looked_at = len(self._unread)
                missing = f"no {beginning!r} after:\n" + "\n".join(self.transcript[-30:])
                assert not self._ended, missing
                assert self._arrived.wait(end - time.monotonic()), missing

    def waiting(self) -> list[str]:
        """Take the lines that have arrived."""
        with self._arrived:
            taken, self._unread = self._unread, []
        return taken

    def words(self) -> str:
        """Take the lines that have arrived; return the texts of `info string`."""
        return "\n".join(line for line in self.waiting() if line.startswith("info string"))

    def bestmove(self) -> str:
        """Return the move of the next `bestmove`."""
        return self.until("bestmove ")[-1].split()[1]

    def settle(self) -> list[str]:
        """Wait until all commands are executed; return the lines that they have caused."""
        self._settled += 1
        # An unknown command is answered in order, by a text that nothing else causes.
        return self.send("isready", f"settle{self._settled}").until(
            f"info string unknown command 'settle{self._settled}'"
        )


class InProcess(Session):
    """A session in this process; `make` is called with the stream for its output."""

    def __init__(self, adapter: Adapter | None = None) -> None:
        super().__init__()
        self.usi = UsiSession(self.receive, adapter)

    def send(self, *lines: str) -> Session:
        for line in lines:
            self.transcript.append("> " + line[:300])
            assert self.usi.handle(line), f"{line!r} ended the session"
        return self


class Process(Session):
    """`liteshogi` as a GUI starts it, with `flags`; `arguments` are for Python, `environment` is added to that of this
    process."""

    def __init__(self, *arguments: str, flags: Sequence[str] = (), **environment: str) -> None:
        super().__init__()
        self.process = subprocess.Popen(
            [sys.executable, *arguments, "-m", "liteshogi", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_output, self._read_errors)]
        self.errors = b""
        for reader in self._readers:
            reader.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.receive(line.decode("utf-8").rstrip("\n"))
        self.receive(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def send(self, *lines: str) -> Session:
        return self.send_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))

    def send_bytes(self, data: bytes) -> Session:
        assert self.process.stdin is not None
        self.transcript.extend("> " + line[:300] for line in data.decode("utf-8", "replace").splitlines())
        self.process.stdin.write(data)
        self.process.stdin.flush()
        return self

    def close_input(self) -> None:
        """Close the input of the process."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def ended(self) -> int:
        """Wait for the end of the process; return its exit status. Standard error must be empty."""
        status = self.process.wait(self.patience)
        for reader in self._readers:
            reader.join(self.patience)
        assert self.errors == b"", self.errors.decode("utf-8", "replace")
        return status

    def kill(self) -> None:
        """Kill the process if it is running, at the end of a test."""
        self.process.kill()
        self.process.wait()
        self.close_input()
