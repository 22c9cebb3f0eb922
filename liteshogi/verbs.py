"""The verbs of the command line by purpose, how older spellings are corrected, and which extra each library is in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verb:
    """A verb; `liteshogi VERB` is `commands/VERB.py`, `liteshogi VERB KIND` is `commands/VERB/KIND.py`."""

    summary: str
    """One line for the overview."""
    kinds: tuple[str, ...] = ()
    """The second word, where a verb needs one."""
    default_kind: str = ""
    """The kind of a verb that is given without one; empty if a kind is required."""


SECTIONS: dict[str, dict[str, Verb]] = {
    "Play": {
        "floodgate": Verb("play on floodgate or another CSA server"),
        "warmup": Verb("compile the engines in advance for a quick first start"),
        "demo": Verb("show the whole pipeline in a few minutes"),
    },
    "Look at games and positions": {
        "analyse": Verb("search games: scores, best lines, mistakes"),
        "mate": Verb("solve mate problems"),
        "eval": Verb("show the static evaluation of positions"),
        "explain": Verb("show what each piece contributes to an evaluation"),
        "book": Verb("convert an opening book from .db to .ybb"),
    },
    "Make data": {
        "convert": Verb("convert games and records between formats"),
        "stat": Verb("describe games and records"),
        "selfplay": Verb("generate self-play games", ("alphabeta", "puct"), "alphabeta"),
        "expand": Verb("make labelled positions as a search meets them"),
        "relabel": Verb("relabel positions by a network, a search, another engine"),
    },
    "Train": {
        "train": Verb("train a network", ("lite", "untied", "dense", "half_kp", "k_p", "sfnn", "resnet")),
        "test": Verb("measure accuracy and calibration on held-out games"),
        "fold": Verb("turn a trained network into the engine's file"),
        "loop": Verb("improve a network by its own self-play"),
    },
    "Compare players and networks": {
        "match": Verb("play a match or a league, and report Elo with its error"),
        "sweep": Verb("train, measure and play many networks of one plan"),
        "yardstick": Verb("make held-out positions with reference scores or results"),
        "report": Verb("make one HTML page of the results of runs"),
    },
    "Exchange networks": {
        "export": Verb("write ONNX, nn.bin, a C++ header or test vectors"),
        "import": Verb("read an nn.bin of YaneuraOu"),
        "puct": Verb("speak USI with a policy-value network, searched by PUCT"),
    },
    "Work on the search": {
        "bench": Verb(
            "measure signature and speed",
            ("search", "engines", "pipes", "factory", "steps", "evaluation", "training", "reading", "planes"),
            "search",
        ),
        "perft": Verb("count legal move sequences"),
        "judge": Verb(
            "measure moves and parameters by a stronger engine",
            ("moves", "positions", "refutations", "health", "parameters", "effects", "match"),
        ),
        "tune": Verb("tune parameters of the search by games (SPSA)"),
    },
}
"""The verbs by purpose, as in the tables of the READMEs."""
VERBS: dict[str, Verb] = {name: verb for section in SECTIONS.values() for name, verb in section.items()}

TUNABLE = "--tunable"
"""Flag that stands alone: the USI engine declares the search's parameters as options."""

RESPELLED = {
    "export": {"--onnx": "-o NAME.onnx", "--nnue": "-o NAME.bin", "--cpp": "-o NAME.h"},
}
"""Options that one would look for, with the spelling that works."""

EXTRAS = {
    **dict.fromkeys(("numba", "llvmlite", "numpy", "safetensors", "tyro"), ""),
    **dict.fromkeys(("torch", "cshogi", "matplotlib", "tensorboard"), "train"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "export"),
    **dict.fromkeys(("shogiarena", "rsshogi", "vl_convert", "optuna", "psutil"), "experiments"),
    "ray": "cluster",
}
"""The extra that installs a library; empty for libraries that every installation has."""


def correction(verb: str, rest: list[str]) -> str:
    """Return the reason why `liteshogi VERB REST` is no command, with the right spelling; empty if it may be one."""
    import difflib
    import os

    if verb not in VERBS:
        close = difflib.get_close_matches(verb, VERBS, 1)
        return f"no verb {verb!r}{f'; did you mean {close[0]}? Otherwise' if close else ';'} see liteshogi --help"
    for word in rest:
        if spelled := RESPELLED.get(verb, {}).get(word.split("=")[0]):
            return f"{verb} {word} is spelled: {spelled}"
    kinds = VERBS[verb].kinds
    if not kinds or (rest and rest[0] in kinds):
        return ""
    if rest and not os.path.exists(rest[0]) and (close := difflib.get_close_matches(rest[0], kinds, 1)):
        return f"{verb} has no kind {rest[0]!r}; did you mean {verb} {close[0]}? Otherwise see liteshogi {verb} --help"
    if not VERBS[verb].default_kind:
        return f"{verb} requires a kind first, one of {', '.join(kinds)}: liteshogi {verb} {kinds[0]} ..."
    return ""


def overview() -> str:
    """Return the verbs by purpose, one line each, for one screen of 80 columns."""
    lines = ["liteshogi: a shogi engine and the toolkit for its value networks.", ""]
    lines.append("  liteshogi         speak USI: register this command in a shogi GUI")
    lines.append(f"  liteshogi {TUNABLE}   the same, with the search's parameters as USI options")
    for section, verbs in SECTIONS.items():
        lines += ["", f"{section}:"]
        lines += [f"  {name:<17} {verb.summary}" for name, verb in verbs.items()]
    return "\n".join([*lines, "", "liteshogi VERB --help shows kinds and options; --version shows versions."])


def kinds_overview(verb: str, summaries: dict[str, str]) -> str:
    """Return the kinds of a verb with the summary of each, for 80 columns."""
    import textwrap

    default = VERBS[verb].default_kind
    lines = [f"liteshogi {verb} KIND ...: {VERBS[verb].summary}."]
    lines += [f"Without a kind it is {default}."] if default else []
    lines += ["", "Kinds:"]
    for kind, summary in summaries.items():
        lines += textwrap.wrap(summary, 80, initial_indent=f"  {kind:<17} ", subsequent_indent=" " * 20)
    return "\n".join([*lines, "", f"liteshogi {verb} KIND --help shows the options."])
