"""What a run was made from and by whom, as its `made.json` keeps it."""

from __future__ import annotations

from typing import Any

from lite.datasets.description import describe_data
from lite.program import libraries, program
from lite.training.checkpoint import named_errors
from lite.training.folder import RunFolder
from lite.training.options import TrainingOptions
from search.system.metadata import parse_json


def describe_training(folder: RunFolder, options: TrainingOptions) -> dict[str, Any]:
    """{made_by: [program, machine and libraries of every call that differed], seed, data, valid: [path, digest, ...]}.

    Of a run that goes on the makers before are kept. Raises OSError, or ValueError where its file does not tell them.
    """
    makers: list[Any] = []
    if options.resume and folder.provenance.is_file():
        with named_errors(folder.provenance, "does not tell what the run was made by; restore it from a copy"):
            makers = list(parse_json(folder.provenance.read_text(encoding="utf-8"))["made_by"])
    if (maker := program() | libraries()) not in makers:
        makers.append(maker)
    described = {
        name: [{"path": str(path), **describe_data(path)} for path in paths]
        for name, paths in (("data", options.data), ("valid", options.valid))
    }
    return {"made_by": makers, "seed": options.seed, **described}
