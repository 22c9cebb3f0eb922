"""The options that choose the evaluation network of an engine or a player, by YaneuraOu's names."""

from __future__ import annotations

from search.system.options import OptionError
from search.usi.usi_options import FileName, Option, OptionValues, Spin

_DEFAULT_FV_SCALE = 16
"""YaneuraOu's default. While the option has this value, an nn.bin that specifies another divisor keeps its own."""
_NO_ARCHITECTURE = "auto"
"""Default of EvalArchitecture: the file decides; else YaneuraOu's name, such as SFNN_halfka2_1024_7_64_k3k3."""
NETWORK_OPTIONS: tuple[Option, ...] = (
    FileName("EvalFile", "default"),
    Spin("FV_SCALE", _DEFAULT_FV_SCALE, 1, 128),
    FileName("EvalArchitecture", _NO_ARCHITECTURE, "string"),
)
OPTION_OF = {"fv_scale": "FV_SCALE", "architecture": "EvalArchitecture"}
"""Options by the fields of `load_network`."""


def network_choice(values: OptionValues) -> tuple[str, int | None, str | None]:
    """Return the arguments of `load_network`: the network, its divisor and its architecture, None where it decides."""
    scale, named = values.number("FV_SCALE"), values.text("EvalArchitecture")
    return (
        values.text("EvalFile"),
        None if scale == _DEFAULT_FV_SCALE else scale,
        None if named.lower() == _NO_ARCHITECTURE else named,
    )


def with_options(error: OptionError) -> str:
    """Return the message of an error of `load_network` with options in place of fields."""
    return error.spelled(OPTION_OF.__getitem__)
