"""The `liteshogi` command: bare it speaks USI, with a verb it runs that verb, imported only when asked for."""

from __future__ import annotations

import errno
import importlib
import keyword
import os
import sys
from typing import Any

from liteshogi.rooms import refuse_foreign_rooms

VERBS: dict[str, tuple[str, ...]] = {
    "train": ("lite", "untied", "dense", "half_kp", "k_p", "resnet"),
    "test": (),
    "convert": (),
    "stat": (),
    "selfplay": ("alphabeta", "puct"),
    "expand": (),
    "relabel": (),
    "loop": (),
    "fold": (),
    "export": (),
    "import": (),
    "eval": (),
    "explain": (),
    "bench": ("search", "engines", "pipes", "factory", "steps", "evaluation", "training", "reading", "planes"),
    "perft": (),
    "mate": (),
    "match": (),
    "puct": (),
    "sweep": (),
    "tune": (),
    "judge": ("moves", "positions", "refutations", "health", "parameters", "effects", "match"),
    "report": (),
    "analyse": (),
    "warmup": (),
    "demo": (),
}
"""The verbs, and the kinds that one has: `liteshogi VERB KIND` is `commands/VERB/KIND.py`, else it is `VERB.py`."""
WITHOUT_KIND = {"bench": "search", "selfplay": "alphabeta"}
"""The kind that a verb means where none is named."""
RESPELLED = {
    "train": {"--resnet": "liteshogi train resnet", "--network": "liteshogi train KIND, as in liteshogi train half_kp"},
    "test": {"--resnet": "liteshogi test NET DATA, which sees what the file is"},
    "export": {
        "--resnet": "liteshogi export NET, which sees what the file is",
        "--onnx": "-o NAME.onnx",
        "--nnue": "-o NAME.bin",
        "--cpp": "-o NAME.h",
    },
    "warmup": {"--puct": "liteshogi warmup, which compiles PUCT too"},
    "bench": {
        "--eval": "liteshogi bench evaluation",
        "--train": "liteshogi bench training",
        "--read": "liteshogi bench reading",
        "--planes": "liteshogi bench planes",
        "--steps": "liteshogi bench steps",
        "--net": "liteshogi bench NET",
    },
    "analyse": {"--eval-file": "liteshogi analyse NET GAME"},
}
"""Options of older versions, or such as one would look for, and how the same is said."""
EXTRAS = {
    **dict.fromkeys(("numba", "llvmlite", "numpy", "safetensors", "tyro"), ""),
    **dict.fromkeys(("torch", "cshogi", "matplotlib", "tensorboard"), "train"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "export"),
    **dict.fromkeys(("shogiarena", "rsshogi", "vl_convert", "optuna", "psutil"), "experiments"),
    "ray": "cluster",
}
"""Which extra brings a missing module; what is here without having been installed may miss those of none."""


def main() -> None:
    """Entry point of the console command."""
    try:
        refuse_foreign_rooms()
    except ImportError as error:
        sys.exit(f"error: {error}")
    arguments = sys.argv[1:]
    if not arguments:
        if sys.stdin is not None and sys.stdin.isatty():
            print(
                "LiteShogi speaks USI here: add it to a shogi GUI, or type `usi`. Verbs: liteshogi --help", flush=True
            )
        from search.usi.process import main as speak_usi

        speak_usi()
        return
    from search.system.standard_streams import complete_streams, has_no_reader

    complete_streams()
    try:
        try:
            code = _run(arguments)
        finally:
            sys.stdout.flush()  # here rather than at exit, where a closed pipe could only be complained about
    except OSError as error:
        code = 0
        if not has_no_reader(error):
            print(f"error: {_in_words(error)}", file=sys.stderr)
            code = 1
        # The reader of our output has seen enough, or it is full; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    if workers := sys.modules.get("lite.workers"):
        workers.leave_with(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    verb, rest = arguments[0], arguments[1:]
    if verb in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if verb in VERBS and VERBS[verb] and rest[:1] in (["-h"], ["--help"]):
        print(_overview(verb))
        return 0
    if verb != "--version" and (reason := _misspelled(verb, rest)):
        print(f"error: {reason}", file=sys.stderr)
        return 2
    try:
        if verb == "--version":
            _tell_version()
        else:
            from search.system.command_line import started_by

            with started_by(arguments):
                parse(verb, rest).run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in EXTRAS:
            raise
        extra = EXTRAS[missing]
        what = f"'liteshogi[{extra}]'" if extra else "liteshogi"
        print(f"error: this needs {missing}: pip install {what}", file=sys.stderr)
        return 1
    except (ValueError, OSError, MemoryError, OverflowError) as error:
        from search.system.standard_streams import has_no_reader

        if isinstance(error, OSError) and has_no_reader(error):
            raise
        print("error: " + (_in_words(error) or "not enough memory"), file=sys.stderr)
        return 1
    return 0


def parse(verb: str, rest: list[str]) -> Any:
    """The command of a verb that is none of `_misspelled`, with its options; SystemExit for options that are none."""
    import tyro

    from liteshogi.option_help import join_lines

    words = [verb]
    if VERBS[verb]:
        kind = rest[0] if rest and rest[0] in VERBS[verb] else None
        words.append(kind or WITHOUT_KIND[verb])
        rest = rest[kind is not None :]
    command = _load(words)
    join_lines(command)
    given: Any = None
    if verb == "train":
        from liteshogi.commands.train.configuration import configured

        given = configured(command, rest, words[1])
    return tyro.cli(command, args=rest, prog=f"liteshogi {' '.join(words)}", default=given)


def _tell_version() -> None:
    """What a report of an error should begin with; whatever comes of the rest, the version is told."""
    from liteshogi import __version__

    print(f"liteshogi {__version__}", flush=True)
    import platform

    import numba
    import numpy

    print(f"Python {platform.python_version()}, numba {numba.__version__}, NumPy {numpy.__version__}", flush=True)
    from search.compiling.jit import CACHE_DIRECTORY, KERNEL, RELEASED_DIRECTORY
    from search.compiling.target import cpu_name

    print(f"CPU {cpu_name()}, kernel {KERNEL}")
    came = f" beside what came with the package, {RELEASED_DIRECTORY}" if RELEASED_DIRECTORY.is_dir() else ""
    print(f"compiled code {CACHE_DIRECTORY}{came}")


def _in_words(error: Exception) -> str:
    """What an error says, in one line; the system's own (`[Errno 2] ...: 'name'`) as ours begin, with the file."""
    from search.system.options import OptionError  # after `refuse_foreign_rooms`

    text = error.spelled(_flag) if isinstance(error, OptionError) else str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        if error.errno == errno.ENOSPC and not place:
            place = "standard output: "  # files are named by who writes them
        text = place + error.strerror[0].lower() + error.strerror[1:]
    return " ".join(text.split())


def _flag(field: str) -> str:
    """The flag of a field, as tyro spells it."""
    return f"--{field.rstrip('_').replace('_', '-')}"


def _misspelled(verb: str, rest: list[str]) -> str:
    """Why these words are no command, and which ones are; empty if nothing is wrong with them so far."""
    import difflib

    if verb not in VERBS:
        close = difflib.get_close_matches(verb, VERBS, 1)
        return f"no verb {verb!r}{f'; did you mean {close[0]}? Else' if close else ';'} see liteshogi --help"
    for word in rest:
        if spelled := RESPELLED.get(verb, {}).get(word.split("=")[0]):
            return f"{verb} {word} is spelled: {spelled}"
    kinds = VERBS[verb]
    if not kinds or (rest and rest[0] in kinds):
        return ""
    if rest and not os.path.exists(rest[0]) and (close := difflib.get_close_matches(rest[0], kinds, 1)):
        return f"{verb} has no kind {rest[0]!r}; did you mean {verb} {close[0]}? Else see liteshogi {verb} --help"
    if verb not in WITHOUT_KIND:
        return f"{verb} needs a kind first, one of {', '.join(kinds)}: liteshogi {verb} {kinds[0]} ..."
    return ""


def _module(words: list[str]) -> str:
    """Where a command lies below `liteshogi.commands`; a word of Python's own has an underscore behind it."""
    return ".".join(word + "_" * keyword.iskeyword(word) for word in words)


def _load(words: list[str]) -> type:
    loaded: type = importlib.import_module(f"liteshogi.commands.{_module(words)}").Command
    return loaded


def _overview(of: str | None = None) -> str:
    """The commands, or those of one verb, and what each says of itself first, read without importing it."""
    import ast
    import textwrap
    from pathlib import Path

    lines = ["liteshogi: a lite value network for shogi. Bare `liteshogi` speaks USI. Verbs:", ""]
    if of is not None:
        default = f" Without a kind it is {WITHOUT_KIND[of]}." if of in WITHOUT_KIND else ""
        lines = [f"liteshogi {of} KIND ...{default} Kinds:", ""]
    for verb in VERBS if of is None else (of,):
        for words in [[verb, kind] for kind in VERBS[verb]] or [[verb]]:
            source = Path(__file__).with_name("commands").joinpath(*_module(words).split(".")).with_suffix(".py")
            for node in ast.parse(source.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and node.name == "Command":
                    summary = (ast.get_docstring(node) or "").split("\n\n")[0]
                    lines += textwrap.wrap(
                        summary, 80, initial_indent=f"  {' '.join(words):19s}", subsequent_indent=" " * 21
                    )
    what = "VERB" if of is None else f"{of} KIND"
    return "\n".join([*lines, "", f"liteshogi {what} --help tells its options."])


if __name__ == "__main__":
    main()
