"""The `liteshogi` command: without arguments it speaks USI, with a verb it imports and runs that verb."""

from __future__ import annotations

import errno
import importlib
import keyword
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from liteshogi.packages import refuse_foreign_packages
from liteshogi.verbs import EXTRAS, TUNABLE, VERBS, correction, kinds_overview, overview


def main() -> None:
    """Entry point of the console command."""
    try:
        refuse_foreign_packages()
    except ImportError as error:
        sys.exit(f"error: {error}")
    arguments = sys.argv[1:]
    if arguments in ([], [TUNABLE]):
        if sys.stdin is not None and sys.stdin.isatty():
            print(
                "LiteShogi speaks USI here: register it in a shogi GUI, or type `usi`. Help: liteshogi --help",
                flush=True,
            )
        from search.usi.alphabeta import AlphaBetaAdapter
        from search.usi.process import main as speak_usi

        speak_usi(AlphaBetaAdapter(tunable=bool(arguments)))
        return
    from search.system.standard_streams import complete_streams, has_no_reader

    complete_streams()
    try:
        try:
            code = _run(arguments)
        finally:
            sys.stdout.flush()  # at exit Python would report a closed pipe with a traceback
    except OSError as error:
        code = 0
        if not has_no_reader(error):
            print(f"error: {_one_line(error)}", file=sys.stderr)
            code = 1
        # The reader of the output is gone, or the disk is full: discard the buffered output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        code = _interrupted()
    if workers := sys.modules.get("lite.workers"):
        workers.leave_with(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    verb, rest = arguments[0], arguments[1:]
    command: Any = None
    if verb in ("-h", "--help", "help"):
        print(overview())
        return 0
    if verb in VERBS and VERBS[verb].kinds and rest[:1] in (["-h"], ["--help"]):
        print(kinds_overview(verb, _summaries(verb)))
        return 0
    if verb != "--version" and (reason := correction(verb, rest)):
        print(f"error: {reason}", file=sys.stderr)
        return 2
    try:
        if verb == "--version":
            _print_version()
        else:
            from search.system.command_line import started_by

            with started_by(arguments):
                command = parse(verb, rest)
                with _reading(command):
                    command.run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in EXTRAS:
            raise
        extra = EXTRAS[missing]
        what = f"'liteshogi[{extra}]'" if extra else "liteshogi"
        _complain(f"this needs {missing}: pip install {what}", command)
        return 1
    except (ValueError, OSError, MemoryError, OverflowError) as error:
        from search.system.standard_streams import has_no_reader

        if isinstance(error, OSError) and has_no_reader(error):
            raise
        _complain(_one_line(error, command) or "not enough memory", command)
        return 1
    except KeyboardInterrupt:
        return _interrupted(command)
    return 0


def _reading(command: Any) -> AbstractContextManager[None]:
    """Return a context in which messages, those on compiling included, are shown in a command's language; only commands
    for players have one."""
    words = getattr(command, "words", None)
    if words is None:
        return nullcontext()
    from experiments.language.catalogue import reading, shown
    from search.compiling.cache_directory import report_to

    report_to(lambda text: print(shown(f"liteshogi: {text}"), file=sys.stderr, flush=True))
    return reading(words)


def _shown(message: str, command: Any) -> str:
    """Return a message in a command's language."""
    if not hasattr(command, "words"):
        return message
    from experiments.language.catalogue import shown

    with _reading(command):
        return shown(message)


def _complain(message: str, command: Any) -> None:
    """Print an error."""
    print(_shown(f"error: {message}", command), file=sys.stderr)


def _interrupted(command: Any = None) -> int:
    """Report an interrupt, and return its exit status."""
    print(_shown("interrupted", command), file=sys.stderr)
    return 130


def parse(verb: str, rest: list[str]) -> Any:
    """Return the command of a known verb with its options.

    Raises SystemExit for options that it does not have, ValueError for words in an impossible order, and OSError or
    ValueError for a file of options that cannot be read.
    """
    import tyro

    from liteshogi.option_help import prepare_help
    from liteshogi.word_order import arranged

    words = [verb]
    if kinds := VERBS[verb].kinds:
        kind = rest[0] if rest and rest[0] in kinds else None
        words.append(kind or VERBS[verb].default_kind)
        rest = rest[kind is not None :]
    command = _load(words)
    prepare_help(command)
    given: Any = None
    if verb == "train":
        from liteshogi.commands.train.configuration import configured

        given = configured(command, rest, words[1])
    rest = arranged(command, rest, " ".join(words), given)
    return tyro.cli(command, args=rest, prog=f"liteshogi {' '.join(words)}", default=given)


def _print_version() -> None:
    """Print the versions that a bug report needs."""
    from liteshogi import __version__

    print(f"liteshogi {__version__}", flush=True)
    import platform

    import numba
    import numpy

    print(f"Python {platform.python_version()}, numba {numba.__version__}, NumPy {numpy.__version__}", flush=True)
    from search.compiling.jit import CACHE_DIRECTORY, KERNEL, RELEASED_DIRECTORY
    from search.compiling.target import cpu_name

    print(f"CPU {cpu_name()}, kernel {KERNEL}")
    released = f" and, from the package, {RELEASED_DIRECTORY}" if RELEASED_DIRECTORY.is_dir() else ""
    print(f"compiled code {CACHE_DIRECTORY}{released}")


def _one_line(error: Exception, command: Any = None) -> str:
    """Return the message of an error in one line, with flags for fields and commands for remedies.

    `command` is the command that raised the error; None before its options are read.
    """
    from liteshogi.remedies import remedy
    from liteshogi.word_order import spelling
    from search.system.files import message_of  # after `refuse_foreign_packages`
    from search.system.options import OptionError

    if isinstance(error, OSError) and error.strerror:
        # Errors of files name the file.
        place = "standard output: " if error.errno == errno.ENOSPC and not error.filename else ""
        return place + message_of(error)
    text = _shown(str(error), command)
    if isinstance(error, OptionError):
        text = OptionError(text, *error.fields).spelled(lambda field: spelling(field, command))
    return " ".join((text + remedy(error)).split())


def _module(words: list[str]) -> str:
    """Return the name of a command's module below `liteshogi.commands`; Python's keywords get an underscore."""
    return ".".join(word + "_" * keyword.iskeyword(word) for word in words)


def _load(words: list[str]) -> type:
    loaded: type = importlib.import_module(f"liteshogi.commands.{_module(words)}").Command
    return loaded


def _summaries(verb: str) -> dict[str, str]:
    """Return the first sentence of each kind's command, read without importing it."""
    import ast
    from pathlib import Path

    found = {}
    for kind in VERBS[verb].kinds:
        source = Path(__file__).with_name("commands").joinpath(*_module([verb, kind]).split(".")).with_suffix(".py")
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == "Command":
                found[kind] = (ast.get_docstring(node) or "").split("\n\n")[0]
    return found


if __name__ == "__main__":
    main()
