"""`liteshogi compare`: the tables of the articles that this project builds on, made again on one's own data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from experiments.compare.compare import SAMPLE, Comparison, Preset, compare
from experiments.compare.games import GameOptions
from experiments.compare.table import as_markdown
from liteshogi.commands.arguments import Json, OrSample, Output


@dataclass(frozen=True)
class Command(Comparison):
    """Train variants of a network side by side and write a table: nets, squeeze, auxiliary, draw."""

    preset: tyro.conf.Positional[Preset]
    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], OrSample] = (SAMPLE / "teacher_sample.hcpe3",)
    valid: Annotated[tuple[Path, ...], OrSample] = (SAMPLE / "valid_sample.hcpe3",)
    output: Output = Path("out/compare")
    lambda_: Annotated[float, tyro.conf.arg(name="lambda")] = 0.7
    play: tyro.conf.OmitArgPrefixes[GameOptions] = field(default_factory=GameOptions)
    json: Json = False

    def run(self) -> None:
        report = compare(self)
        print(json.dumps(report) if self.json else as_markdown(report))
