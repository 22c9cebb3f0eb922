"""The `liteshogi` command: bare it speaks USI, with a verb it runs that verb, imported only when asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

VERBS = {
    "train": "train",
    "train --resnet": "train_resnet",
    "test": "test",
    "test --resnet": "test_resnet",
    "convert": "convert",
    "stat": "stat",
    "fold": "fold",
    "export": "export",
    "export --resnet": "export_resnet",
    "import": "import_",
    "eval": "eval",
    "bench": "bench",
    "bench --steps": "bench_steps",
    "bench --eval": "bench_eval",
    "bench --train": "bench_train",
    "bench --read": "bench_read",
    "bench --planes": "bench_planes",
    "perft": "perft",
    "mate": "mate",
    "match": "match",
    "puct": "puct",
    "compare": "compare",
    "tune": "tune",
    "analyse": "analyse",
    "warmup": "warmup",
    "warmup --puct": "warmup_puct",
    "demo": "demo",
}
"""A verb, or a verb and the flag that picks its variant, and its module in `liteshogi.commands`."""
EXTRAS = {
    **dict.fromkeys(("torch", "cshogi", "matplotlib", "tensorboard", "rich"), "train"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "export"),
    **dict.fromkeys(("shogiarena", "rsshogi"), "experiments"),
}
"""Which extra brings a missing module."""


def main() -> None:
    """Entry point of the console command."""
    arguments = sys.argv[1:]
    if not arguments:
        if sys.stdin is not None and sys.stdin.isatty():
            print(
                "LiteShogi speaks USI here: add it to a shogi GUI, or type `usi`. Verbs: liteshogi --help", flush=True
            )
        from search.usi.process import main as speak_usi

        speak_usi()
        return
    try:
        try:
            code = _run(arguments)
        finally:
            sys.stdout.flush()  # here rather than at exit, where a closed pipe could only be complained about
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        # The reader of our output has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    verb = arguments[0]
    if verb in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if verb == "--version":
        from liteshogi import __version__

        print(f"liteshogi {__version__}")
        return 0
    if verb not in VERBS:
        import difflib

        close = difflib.get_close_matches(verb, VERBS, 1)
        hint = f"; did you mean {close[0]}? Else" if close else ""
        print(f"error: no verb {verb!r}{hint or ';'} see liteshogi --help", file=sys.stderr)
        return 2
    name, rest = verb, arguments[1:]
    for argument in rest:
        if f"{verb} {argument}" in VERBS:
            name = f"{verb} {argument}"
            rest = [word for word in rest if word != argument]
            break
    try:
        import tyro

        options: Any = tyro.cli(_load(name), args=rest, prog=f"liteshogi {name}")
        options.run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in EXTRAS:
            raise
        print(f"error: this needs {missing}: pip install 'liteshogi[{EXTRAS[missing]}]'", file=sys.stderr)
        return 1
    except (ValueError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        print("error: " + (_in_words(error) or "not enough memory"), file=sys.stderr)
        return 1
    return 0


def _in_words(error: Exception) -> str:
    """What an error says, in one line; the system's own (`[Errno 2] ...: 'name'`) as ours begin, with the file."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        text = place + error.strerror[0].lower() + error.strerror[1:]
    return " ".join(text.split())


def _load(name: str) -> type:
    loaded: type = importlib.import_module(f"liteshogi.commands.{VERBS[name]}").Command
    return loaded


def _overview() -> str:
    """The verbs and the first line of what each says of itself, read without importing them."""
    import ast
    from pathlib import Path

    lines = ["liteshogi: a lite value network for shogi. Bare `liteshogi` speaks USI. Verbs:", ""]
    for name, module in VERBS.items():
        source = Path(__file__).with_name("commands") / f"{module}.py"
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == "Command":
                lines.append(f"  {name:17s}{(ast.get_docstring(node) or '').splitlines()[0]}")
    return "\n".join([*lines, "", "liteshogi VERB --help tells a verb's options."])


if __name__ == "__main__":
    main()
