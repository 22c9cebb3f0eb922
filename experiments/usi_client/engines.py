"""An engine that will play or search: its command, its options and its name, as it declares them.

The engine is started once before any game. Its reply to `usi` gives its name, its options and which options are files.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.usi_client.dialogue import Dialogue
from experiments.usi_client.installed import installed_program
from search.evaluation.shipped import is_shipped

USIOK_SECONDS = 60.0
"""Seconds to wait from `usi` to `usiok`."""
READY_SECONDS = 900.0
"""Seconds to wait from `isready` to `readyok`: an engine that compiles itself takes minutes with an empty cache."""
PATIENCE_SECONDS = 60.0
"""Least seconds that ShogiArena waits for `readyok`, and for `bestmove` after a move's time is over."""
NO_DELAY = {"NetworkDelay": 0, "NetworkDelay2": 0}
"""Default options: these engines and their clock are on one machine."""
_PASSED_ON = {
    *("HOME", "PATH", "TMPDIR", "LANG", "LC_ALL", "XDG_CACHE_HOME"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
}
BY_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')
"""Start of the command for an engine that is a symbolic link, see `Engine.description`."""
OURS = "LITESHOGI_"
"""Prefix of this project's environment variables."""


@dataclass(frozen=True)
class Option:
    """An option as an engine declares it."""

    name: str
    kind: str
    """check, spin, combo, button, string or filename."""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def parse(cls, line: str) -> Option | None:
        """Return the option of a line `option name USI_Hash type spin default 64 min 1 max 1024`, None otherwise."""
        found = re.match(r"option name (.+?) type (\S+)(.*)", line)
        if found is None:
            return None
        name, kind, rest = found.groups()
        low, high = (re.search(rf" {word} (-?\d+)", rest) for word in ("min", "max"))
        choices = tuple(text.strip() for text in re.split(r" var(?= )", rest)[1:])  # a choice may hold spaces
        return cls(name, kind, low and int(low[1]), high and int(high[1]), choices)

    def check(self, text: str) -> str | int:
        """Return the value to set; ValueError if the engine would not accept it."""
        if self.kind == "spin":
            if not re.fullmatch(r"[-+]?\d+", text):
                raise ValueError(f"{self.name}: must be a number, not {text!r}")
            number = int(text)
            if (self.minimum is not None and number < self.minimum) or (
                self.maximum is not None and number > self.maximum
            ):
                raise ValueError(f"{self.name}: must be from {self.minimum} to {self.maximum}, not {number}")
            return number
        if self.kind == "check" and text not in ("true", "false"):
            raise ValueError(f"{self.name}: must be true or false, not {text!r}")
        if self.kind == "combo" and text not in self.choices:
            raise ValueError(f"{self.name}: must be one of {', '.join(self.choices)}, not {text!r}")
        return text


@dataclass(frozen=True)
class Engine:
    """An engine that started and was ready to play."""

    program: Path
    arguments: list[str]
    directory: Path
    """Working directory."""
    environment: dict[str, str]
    id_name: str
    declared: dict[str, Option]
    options: dict[str, str | int]
    """Options to set; names as declared, paths absolute."""
    chosen: list[str]
    """The options that the user set, NAME=VALUE."""
    ready_seconds: float
    """Seconds from `isready` to `readyok`."""

    def start(self) -> Dialogue:
        """Start the engine and set its options; `isready` is left to the caller. Raises ValueError."""
        command = [str(self.program), *self.arguments]
        dialogue = Dialogue(" ".join(command), command, self.directory, self.environment)
        try:
            dialogue.send("usi")
            dialogue.until("usiok", USIOK_SECONDS)
        except BaseException:
            dialogue.__exit__()
            raise
        for name, value in self.options.items():
            dialogue.send(f"setoption name {name} value {value}")
        return dialogue

    def description(self, at_once: int) -> dict[str, Any]:
        """Return the engine's configuration for ShogiArena.

        ShogiArena resolves symbolic links. The python of a virtual environment depends on the link's place, so a shell
        runs the link. `at_once` is the number of concurrent games: ShogiArena has one timeout both for `readyok` and
        for an engine that is silent in a game, so it is no longer than engines need that get ready together.
        """
        command = [str(self.program), *self.arguments]
        if self.program.is_symlink() and os.name == "posix":
            command = [*BY_SHELL, *command]
        return {
            "engine_path": command[0],
            "engine_args": command[1:],
            "working_directory": str(self.directory),
            "options": {self._key(option): value for option, value in self.options.items()},
            "handshake_timeout": min(READY_SECONDS, PATIENCE_SECONDS + 4 * at_once * self.ready_seconds),
            "environment": self.environment,
        }

    def files(self) -> list[Path]:
        """Return the files that decide the engine's answers: the program, files in arguments and options, and files in
        folders that options name (YaneuraOu's network lies in EvalDir)."""
        words = [*self.arguments, *(str(value) for value in self.options.values())]
        paths = [Path(word.partition("=")[2] if word.startswith("-") else word) for word in words]
        named = [self.program, *(path for path in paths if path.is_absolute() and path.is_file())]
        texts = {name for name, option in self.declared.items() if option.kind in ("string", "filename")}
        folders = [self.directory / str(value) for name, value in self.options.items() if name in texts and value]
        inside = sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file())
        return list(dict.fromkeys((*named, *inside)))

    def _key(self, option: str) -> str:
        """An option's name for ShogiArena.

        ShogiArena looks for the values of EvalFile and BookFile in its own folders and shortens them. It leaves a value
        alone whose option is written as one of several names (`USI_Hash|Hash`).
        """
        return f"{option}|" if self.declared[option].kind in ("string", "filename", "combo") else option


def ask_engine(command: str, settings: Sequence[str] = (), defaults: Mapping[str, str | int] = NO_DELAY) -> Engine:
    """Start an engine, set its NAME=VALUE options, wait until it is ready, end it, and return its description.

    It runs in its program's folder with this process's `LITESHOGI_` variables and the variables by which programs find
    their files. `defaults`: options that are set where the engine has them and `settings` do not. Raises ValueError for
    an engine that does not start and for an option that it refuses.
    """
    program, arguments = engine_command(command)
    passed = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith(OURS)}
    with Dialogue(command, [str(program), *arguments], program.parent, passed) as dialogue:
        dialogue.send("usi")
        lines = dialogue.until("usiok", USIOK_SECONDS)
        declared = {option.name: option for option in map(Option.parse, lines) if option is not None}
        names = [line.removeprefix("id name ").strip() for line in lines if line.startswith("id name ")]
        name = (names or [""])[0] or program.name
        is_own = name.startswith("LiteShogi")
        chosen: dict[str, str | int] = {}
        for setting in settings:
            try:
                option, value = _choose(setting, declared, program.parent, is_own)
            except ValueError as error:
                raise ValueError(f"{command}: {error}") from error
            chosen[option] = value
        options = {**{option: value for option, value in defaults.items() if option in declared}, **chosen}
        for option, value in options.items():
            dialogue.send(f"setoption name {option} value {value}")
        dialogue.send("isready")
        begun = time.monotonic()
        lines = dialogue.until("readyok", READY_SECONDS)
        ready_seconds = time.monotonic() - begun
        for line in lines:
            # LiteShogi keeps its earlier value if an option fails; in a match that would be another player.
            if is_own and line.startswith(tuple(f"info string {option}: " for option in chosen)):
                raise ValueError(f"{command}: {line.removeprefix('info string ')}")
    return Engine(
        program,
        arguments,
        program.parent,
        passed,
        name,
        declared,
        options,
        [f"{option}={value}" for option, value in chosen.items()],
        ready_seconds,
    )


def engine_command(command: str) -> tuple[Path, list[str]]:
    """Return an engine's program and arguments. FileNotFoundError if absent.

    `liteshogi` is this installation's; another name without a folder is a file of the current folder, or a program on
    PATH. A command that is a path alone may hold spaces. Files among the arguments become absolute, because the engine
    runs in another folder.
    """
    text = command.replace("\\", "/") if os.name == "nt" else command  # a backslash is shlex's escape
    try:
        words = [command] if Path(command).is_file() else shlex.split(text) or [command]
    except ValueError as error:
        raise ValueError(f"engine {command!r}: {error}") from error
    path = (installed_program(words[0]) if words[0] == "liteshogi" else None) or Path(words[0])
    if not path.is_file() and path.name == words[0] and (found := shutil.which(words[0])):
        path = Path(found)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such engine")
    if not os.access(path, os.X_OK):
        raise PermissionError(f"{path}: not a program that can be run; try chmod +x")
    return path.absolute(), [_absolute_argument(word) for word in words[1:]]


def player_names(first: Engine, second: Engine) -> tuple[str, str]:
    """Return names for two engines: `id name`, and if that is equal, the arguments and options that differ."""
    if first.id_name != second.id_name:
        return first.id_name, second.id_name
    words = [[str(one.program), *one.arguments, *one.chosen] for one in (first, second)]
    own = [[word for word in words[side] if word not in words[1 - side]] for side in (0, 1)]
    short = [[re.sub(r"(^|=)/.*/", r"\1", word) for word in side] for side in own]
    own = own if short[0] == short[1] else short
    if not any(own):
        return f"{first.id_name} 1", f"{second.id_name} 2"
    return (
        f"{first.id_name} ({' '.join(own[0])})" if own[0] else first.id_name,
        f"{second.id_name} ({' '.join(own[1])})" if own[1] else second.id_name,
    )


def _choose(setting: str, declared: Mapping[str, Option], directory: Path, is_own: bool) -> tuple[str, str | int]:
    """Return the declared name and the value of a setting NAME=VALUE; `is_own`: of this engine."""
    name, equals, text = setting.partition("=")
    if not equals or not name:
        raise ValueError(f"option {setting!r}: write NAME=VALUE")
    known = {one.lower(): one for one in declared}
    if name.lower() not in known:
        close = difflib.get_close_matches(name.lower(), known, 1)
        hint = f"; did you mean {known[close[0]]}?" if close else f"; it has {', '.join(declared) or 'none'}"
        raise ValueError(f"the engine has no option {name}{hint}")
    option = declared[known[name.lower()]]
    if option.kind in ("string", "filename") and text:
        if is_own and is_shipped(text):  # which this engine prefers to a file of its name
            return option.name, text
        if Path(text).exists():
            return option.name, str(Path(text).absolute())
        if option.kind == "filename" and os.sep in text and not (directory / text).exists():
            raise ValueError(f"{option.name}={text}: there is no such file")
    return option.name, option.check(text)


def _absolute_argument(word: str) -> str:
    """Return an argument that is an existing path, or `--name=` and one, with the path absolute."""
    flag, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    # A word that is a folder's name may be a verb; only one with a separator is certainly a path.
    there = Path(value).is_file() or (os.sep in value and Path(value).exists())
    return f"{flag}{equals}{Path(value).absolute()}" if there else word
