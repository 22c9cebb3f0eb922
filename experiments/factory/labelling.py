"""Options of labels: the source of the scores of recorded and generated positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.labels.averaged_labels import AveragedLabels, MirroredLabels, ScaledSource
from experiments.labels.deep_labels import DeepLabels
from experiments.labels.labels import HOW, Label, LabelSource, NetworkLabels, NoLabels, RecordedLabels
from experiments.labels.usi_labels import EngineLabels
from experiments.network_kinds.kind import kind_of, network_file_of
from experiments.network_kinds.policy_value_bytes import network_bytes
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.puct.onnx_file import Device
from search.score import CP_PER_LOGIT
from search.system.bounds import check_numbers, check_share, check_used
from search.system.options import OptionError


@dataclass(frozen=True)
class Labelling:
    """Options of labelling positions with scores."""

    label: Label = "static"
    """Source of the scores. static: the network's evaluation, of positions not in check. quiescence: the evaluation
    after exchanges are settled. search: a search limited by nodes or depth. engine: a USI engine's search with the same
    limits. network: the win rate of a policy-value network, averaged over the position and its mirror image. recorded:
    the score of the record, of positions that are settled: quiescence by the network changes nothing. result: no score,
    so that positions learn from their games' results; positions without a game are left out."""
    net: str = "default"
    """The network that labels: a file, or the name of a shipped one. For the label network a policy-value network: an
    ONNX file of dlshogi's format, a trained network, or its run's folder."""
    nodes: int = 0
    """Nodes of each labelling search; 0 means no limit."""
    depth: int = 0
    """Depth of each labelling search; 0 means no limit."""
    engine: str = ""
    """Command of the USI engine that labels."""
    engine_option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine that labels."""
    result_share: float = 0.0
    """Share of the game's result in the label of a played position: the label's win rate is this mixture of the
    result and of the score's win rate."""
    discount: float = 0.0
    """For the label recorded: weight of the score of each following ply relative to the ply before. The label's win
    rate is the weighted mean of the position's and of the next 12 plies' scores, and of the game's result after its
    end. 0 means the position's own score alone. Requires whole games (hcpe3)."""
    cp_per_logit: float | None = None
    """Scale of scores that are made of win rates: of a policy-value network, of two networks, of several plies, or
    mixed with results. A position with this score is won with probability 0.73. None means the scale of the network
    whose scores are mixed with results, and 600 elsewhere."""
    second_net: str = ""
    """A second network that labels in the same way; the label is the mean of both win rates."""
    mirrored: bool = False
    """Average the label's win rate over the position and its mirror image. A network that values the two differently,
    such as Suisho Petite, becomes a better teacher. The label network always does this."""
    batch_size: int = DeepLabels.batch_size
    """Boards that a policy-value network evaluates at a time; each position is two, itself and its mirror image."""
    device: Device = "auto"
    """Where a policy-value network is computed. auto: on a GPU if the installed onnxruntime can use one, else on the
    CPU, one core per worker."""

    @property
    def by_networks(self) -> bool:
        """Whether networks of this program's kinds label."""
        return self.label in (*HOW, "network", "recorded")

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_numbers(self, "nodes", "depth", least=0)
        check_numbers(self, "batch_size", least=2, most=1 << 16)
        searched, limited = self.label in ("search", "engine"), bool(self.nodes or self.depth)
        if searched and not limited:
            raise OptionError(f"`label` {self.label}: needs `nodes` or `depth`", "label", "nodes", "depth")
        if limited and not searched:
            raise OptionError(
                f"`label` {self.label}: has no `nodes` and no `depth`; use `label` search", "label", "nodes", "depth"
            )
        if (self.label == "engine") != bool(self.engine):
            raise OptionError("`label` engine and `engine` require each other", "label", "engine")
        if self.engine_option and not self.engine:
            raise OptionError("`engine_option`: requires `label` engine", "engine_option", "label")
        for name in () if self.by_networks else ("net", "second_net"):
            self._check_default(name, f"`label` {self.label}; leave out one of them")
        for name in ("second_net", "result_share") if self.label == "recorded" else ():
            self._check_default(name, "`label` recorded; leave it out")
        if self.label not in HOW:
            self._check_default("mirrored", f"`label` {self.label}; leave it out")
        for name in () if self.label == "network" else ("batch_size", "device"):
            self._check_default(name, f"`label` {self.label}; use `label` network")
        check_share("result_share", self.result_share)
        if self.result_share and self.label == "result":
            raise OptionError("`result_share`: `label` result has no scores to mix", "result_share", "label")
        if self.cp_per_logit is not None and not 0 < self.cp_per_logit < math.inf:
            raise OptionError(f"`cp_per_logit` {self.cp_per_logit}: a number above 0 is needed", "cp_per_logit")
        if self.label != "recorded":
            self._check_default("discount", f"`label` {self.label}; use `label` recorded")
        if not 0 <= self.discount < 1:
            raise OptionError(f"`discount` {self.discount}: a number from 0 to below 1 is needed", "discount")
        if self.label != "network":
            check_used(self, "cp_per_logit", "result_share", "second_net", "discount")

    def _check_default(self, name: str, where: str) -> None:
        """Raise OptionError if a field that has no effect differs from its default."""
        value = getattr(self, name)
        if value != getattr(Labelling, name):
            raise OptionError(f"`{name}` {value}: has no effect with {where}", name, "label")

    def deciding(self) -> Mapping[str, object]:
        """Return the options that decide labels, by the names of their fields.

        Networks are kept by their digests. Batch size and device change a label by rounding only. A discount of 0 is
        left out, so that runs without one resume in folders of versions that had none.
        """
        without = ("net", "second_net", "batch_size", "device", *(() if self.discount else ("discount",)))
        options = {**asdict(self), "cp_per_logit": self.scale()}
        return {name: value for name, value in options.items() if name not in without}

    def scale(self) -> float:
        """Return `cp_per_logit`, or what None means. Raises OSError or ValueError for an unreadable network."""
        if self.cp_per_logit is not None:
            return self.cp_per_logit
        mixes_scores = self.result_share and self.label in HOW and not self.second_net
        return self._folded("net").cp_per_logit if mixes_scores else CP_PER_LOGIT

    @property
    def labellings(self) -> int:
        """Number of scores that one label is made of."""
        return (2 if self.second_net else 1) * (2 if self.mirrored else 1)

    def nets(self) -> dict[str, Path | str]:
        """Return the networks that label, by the names of their fields."""
        named = {"net": self.net, "second_net": self.second_net} if self.by_networks else {}
        is_deep = self.label == "network"
        return {name: network_file_of(net) if is_deep else net for name, net in named.items() if net}

    def source(self) -> LabelSource:
        """Return the source of the labels. Raises OSError or ValueError."""
        if self.label == "engine":
            return EngineLabels(self.engine, self.engine_option, self.nodes, self.depth)
        if self.label == "result":
            return NoLabels()
        if self.label == "recorded":
            return RecordedLabels(self._folded("net"))
        first = self._by_network("net")
        return AveragedLabels((first, self._by_network("second_net")), self.scale()) if self.second_net else first

    def _by_network(self, name: str) -> ScaledSource:
        """Return the labels of the network that a field names."""
        if self.label == "network":
            net = self._of_kind(name)
            return DeepLabels(network_bytes(net), self.scale(), self.batch_size, self.device)
        labels = NetworkLabels(self._folded(name), self.label, self.nodes, self.depth)
        return MirroredLabels(labels) if self.mirrored else labels

    def _folded(self, name: str) -> EvalNetwork:
        return load_network(self._of_kind(name))

    def _of_kind(self, name: str) -> str:
        """Return the network that a field names. Raises OptionError if it is of a kind that `label` cannot use."""
        net: str = getattr(self, name)
        if (self.label == "network") != (kind := kind_of(net)).has_policy:
            needed = "`label` network" if kind.has_policy else "a policy-value network"
            raise OptionError(f"`{name}` {net}: is {kind.value}; `label` {self.label} needs {needed}", name, "label")
        return net
