"""A USI engine for tests: a script that moves its king back and forth, or misbehaves on request."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = """#!{python} -SE
import os, sys, time
behaviour = sys.argv[1] if len(sys.argv) > 1 else "play"
diary = os.environ.get("LITESHOGI_DIARY")
if behaviour == "die":
    sys.exit("no licence")
if behaviour == "shift_jis":
    sys.stdout.reconfigure(encoding="cp932")
    sys.stderr.reconfigure(encoding="cp932")
if behaviour == "hang_up":
    print("no licence", file=sys.stderr, flush=True)
    os.close(1)
    time.sleep(100)
moves = ["5i5h", "5a5b", "5h5i", "5b5a"]
if diary:
    print(dict(os.environ), file=open(diary, "a"))
for line in sys.stdin:
    words = line.split()
    if diary:
        print(line, end="", file=open(diary, "a"))
    if words[0] == "usi":
        print("id name", "LiteShogi" if behaviour == "liteshogi" else "Scripted")
        print("option name EvalFile type filename default <empty>")
        print("option name Book Dir type string default book")
        print("option name Style type combo default Fast var Fast var Slow")
        print("option name NetworkDelay type spin default 120 min 0 max 10000")
        print("option name Quick type check default true")
        if behaviour != "mute":
            print("usiok", flush=True)
    elif words[0] == "isready" and behaviour != "deaf":
        if behaviour == "shift_jis":
            print("info string 評価関数がありません", flush=True)
            sys.exit(1)
        if behaviour == "broken":
            sys.exit("no net\\nError! failed to read nn.bin")
        print("readyok", flush=True)
    elif words[0] == "position":
        position, _, rest = line.partition(" moves ")
        played, before = len(rest.split()), 0 if "startpos" in position else int(position.split()[-1]) - 1
    elif words[0] == "go":
        late = played >= 4
        if late and behaviour == "crash":
            sys.exit("Segmentation fault")
        if late and behaviour == "crash once":
            try:
                os.close(os.open(__file__ + ".crashed", os.O_CREAT | os.O_EXCL))
                sys.exit("Segmentation fault")
            except FileExistsError:
                pass
        if behaviour in ("slow", "sleep"):
            time.sleep(0.2 if behaviour == "slow" else 2)
        move = "1a1b" if late and behaviour == "illegal" else moves[(before + played) % 4]
        if behaviour == "ponder":
            if "ponder" in words:
                answer = sys.stdin.readline()
                if diary:
                    print(answer, end="", file=open(diary, "a"))
            move += " ponder " + moves[(before + played + 1) % 4]
        print("info depth 1 score cp 12 pv", move)
        print("bestmove", "resign" if late and behaviour == "resign" else move, flush=True)
    elif words[0] == "bench":
        print("signature", open(__file__ + ".signature").read())
    elif words[0] == "quit":
        break
"""


@dataclass(frozen=True)
class Scripted:
    """The script. It writes its input and environment to the file that LITESHOGI_DIARY names."""

    program: Path

    def command(self, behaviour: str = "play") -> str:
        """Return the command of the engine with a behaviour: play, resign, ponder, crash, crash once, illegal, slow,
        sleep, die, hang_up, mute, deaf, broken, shift_jis or liteshogi.

        With `crash once` it crashes in the first game after this call. With `liteshogi` it has the name of this engine
        and the signature of the last `sign`.
        """
        Path(f"{self.program}.crashed").unlink(missing_ok=True)
        return f"'{self.program}' '{behaviour}'"

    def sign(self, signature: int) -> None:
        """Set the signature of the behaviour `liteshogi`."""
        Path(f"{self.program}.signature").write_text(str(signature))


@pytest.fixture(scope="session")
def scripted(tmp_path_factory) -> Scripted:
    """The engine, in a folder with a space in its name."""
    place = tmp_path_factory.mktemp("arena") / "an engine"
    place.mkdir()
    program = place / "scripted"
    program.write_text(SCRIPT.replace("{python}", sys.executable), encoding="utf-8")
    program.chmod(0o755)
    return Scripted(program)
