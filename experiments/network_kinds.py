"""What a network's file is, and what every kind of network can do: be tested, evaluate positions, leave, play.

Callers name a file and need not know its kind. What a kind needs is imported when a file is of that kind.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open

from experiments.jobs.progress import Progress
from lite.training.folder import NETWORK_NAME
from search.evaluation.network import EvalNetwork, centipawns_reference
from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import is_nnue
from search.evaluation.shipped import is_shipped, network_file
from search.evaluation.static_evaluation import evaluate_batch, evaluate_sfens, set_game_with_kings
from search.rules.position import new_position
from search.rules.shogi import HAND_KINDS, SQUARES
from search.rules.view import view_position
from search.score import CP_PER_LOGIT, win_rate
from search.system.bounds import MOST_AT_ONCE, check_number
from search.system.files import check_output, require_file, require_utf8
from search.system.metadata import quoted
from search.system.paths import PathLike, as_paths

Precision = Literal["auto", "float32", "bfloat16"]
Valuer = Callable[[np.ndarray, np.ndarray, np.ndarray], list[dict[str, Any]]]
"""From the mover's view of positions (pieces, hands, in_check as in `Batch`) to {score_cp, win_rate} of each, and
`draw` of a network that tells it."""


class Kind(Enum):
    """A network's kind, in words."""

    FOLDED = "a network of the engine's"
    VALUE = "a trained value network"
    POLICY_VALUE = "a trained policy-value network"
    VALUE_ONNX = "a value network in ONNX"
    POLICY_VALUE_ONNX = "a policy-value network in ONNX"


FOLDED_SUFFIXES = (".bin", ".h", ".json")
"""What a network of the engine's is written as: an nn.bin, a C++ header, test vectors."""
_FORMATS = {"liteshogi network": Kind.VALUE, "liteshogi policy-value network": Kind.POLICY_VALUE}


def network_path(net: str) -> Path:
    """The file of a network: a training run's directory stands for the one in it."""
    path = network_file(net)
    return path / NETWORK_NAME if path.is_dir() else path


def kind_of(net: str) -> Kind:
    """What a path, or a shipped network's name, is: a folded one in doubt. Raises OSError or ValueError."""
    path = network_path(net)
    if path.suffix.lower() == ".onnx":
        from search.puct.onnx_file import open_session

        planes = any(given.name == "input1" for given in open_session(path).get_inputs())
        return Kind.POLICY_VALUE_ONNX if planes else Kind.VALUE_ONNX
    if Path(net).is_dir() and not path.is_file():
        raise FileNotFoundError(f"{net}: holds no {NETWORK_NAME}: it is no directory of a training run")
    if path.suffix == ".safetensors" and path.is_file():
        require_file(path)
        require_utf8(path)
        try:
            with safe_open(path, "numpy") as file:
                return _FORMATS.get((file.metadata() or {}).get("format", ""), Kind.FOLDED)
        except SafetensorError as error:
            said = quoted(error, 400)
            raise ValueError(f"{path}: not a safetensors file, or only a part of one ({said})") from None
    return Kind.FOLDED


def judge(
    net: PathLike,
    data: PathLike | Sequence[PathLike],
    positions: int | None = None,
    batch_size: int | None = None,
    precision: Precision = "float32",
    threads: int = 1,
) -> dict[str, Any]:
    """How well a network of any kind predicts the results of held-out records.

    net, data: what was judged on what. positions: those with a game behind them, and draws how many of them were drawn.
    accuracy: fraction of the decided positions whose winner was foretold; accuracy_draw_as_win: of all, a draw being a
    win for the mover; material_accuracy: what the material alone foretells of the decided ones.
    log_loss: nats a position; brier: mean square of predicted win rate less result (1, 0.5, 0).
    calibration: [{positions, predicted, actual}] of equal bins of the win rate; calibration_error: their mean
    difference, a win rate. by_ply, by_score: [{band, ...}] with positions and the first figures of each band, scores in
    centipawns. A figure without a position to stand on is None.
    Of a policy-value network besides: policy_accuracy, the fraction of known moves that it holds likeliest, and
    policy_loss, nats a move; of each further head its own figures.
    records_read, refused ({reason: how many}), first_refused (their names): of the records.

    positions: on the first so many; on all where None. batch_size: positions at a time, what suits the kind where None.
    precision: of a policy-value network. Raises OSError or ValueError in words.
    """
    net, data = os.fspath(net), as_paths(data)
    if not data:
        raise ValueError("no data: name at least one hcpe, hcpe3 or psv file")
    check_number("threads", threads, most=MOST_AT_ONCE)
    check_number("batch-size", batch_size)
    check_number("positions", positions)
    kind = kind_of(net)
    has_policy = kind in (Kind.POLICY_VALUE, Kind.POLICY_VALUE_ONNX)
    if precision != "float32" and not has_policy:
        raise ValueError(f"--precision {precision}: is for policy-value networks, and {net} is {kind.value}")
    import torch

    torch.set_num_threads(threads)
    if has_policy:
        from experiments.resnet.judge import judge_resnet

        return judge_resnet(net, data, batch_size or 512, positions, precision)
    from lite.training.testing import judge_net

    return judge_net(net, data, batch_size or 8192, positions).as_json()


def evaluate(net: str, sfens: Sequence[str]) -> list[dict[str, Any]]:
    """What a network of any kind says of positions (as `evaluate_sfens` takes them) without a search, by the mover.

    {sfen, score_cp, win_rate}, `output`, the raw integer, of a network of the engine's, and `draw` of one that tells
    it. Raises OSError or ValueError in words.
    """
    if kind_of(net) is Kind.FOLDED:
        found = [asdict(one) for one in evaluate_sfens(load_network(net), sfens)]
        return [{name: value for name, value in one.items() if value is not None} for one in found]
    arrays = empty_views(len(sfens))
    pos = new_position()
    for number, sfen in enumerate(sfens):
        set_game_with_kings(pos, sfen)
        view_position(pos, *arrays, np.int64(number))
    return [{"sfen": sfen} | row for sfen, row in zip(sfens, load_valuer(net)(*arrays), strict=True)]


def empty_views(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for the mover's view of so many positions: pieces u1 (B, 81), hands u1 (B, 14), in_check bool (B,)."""
    return (
        np.zeros((count, SQUARES), np.uint8),
        np.zeros((count, 2 * HAND_KINDS), np.uint8),
        np.zeros(count, np.bool_),
    )


def load_valuer(net: str) -> Valuer:
    """What gives the values of positions, whatever a network's kind. Raises OSError or ValueError in words."""
    kind, scale = kind_of(net), CP_PER_LOGIT
    if kind is Kind.FOLDED:
        return _folded_valuer(load_network(net))
    if kind in (Kind.POLICY_VALUE, Kind.POLICY_VALUE_ONNX):
        from experiments.resnet.judge import load_predictor
        from experiments.resnet.network import load_resnet

        if kind is Kind.POLICY_VALUE:
            scale = float(load_resnet(net)[1].get("cp_per_logit", CP_PER_LOGIT))
        predict_all = load_predictor(net)

        def by_policy_net(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[dict[str, Any]]:
            said = predict_all(_batch(pieces, hands, in_check))
            return _values(said.value, scale, said.draw)

        return by_policy_net
    from lite.training.checkpoint import load_model
    from lite.training.testing import load_predictor as load_value_predictor

    if kind is Kind.VALUE:
        scale = float(load_model(net)[1].get("cp_per_logit", CP_PER_LOGIT))
    predict = load_value_predictor(net)

    def by_value_net(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[dict[str, Any]]:
        value, *draw = predict(_batch(pieces, hands, in_check)).T
        return _values(value, scale, *draw)

    return by_value_net


def _folded_valuer(net: EvalNetwork) -> Valuer:
    def values(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> list[dict[str, Any]]:
        outputs = evaluate_batch(net, pieces, hands, in_check)
        scores = centipawns_reference(net, outputs[:, 0].tolist())
        rates = [win_rate(net.logit(output), 1.0) for output in outputs[:, 0].tolist()]
        rows: list[dict[str, Any]] = [{"score_cp": s, "win_rate": r} for s, r in zip(scores, rates, strict=True)]
        if "draw" not in net.outputs:
            return rows
        draws = [win_rate(net.logit(output), 1.0) for output in outputs[:, 1].tolist()]
        return [row | {"draw": draw} for row, draw in zip(rows, draws, strict=True)]

    return values


def _values(logits: np.ndarray, scale: float, draws: np.ndarray | None = None) -> list[dict[str, Any]]:
    rows = [{"score_cp": round(logit * scale), "win_rate": win_rate(logit * scale, scale)} for logit in logits.tolist()]
    if draws is None:
        return rows
    return [row | {"draw": win_rate(float(draw), 1.0)} for row, draw in zip(rows, draws, strict=True)]


def _batch(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> Any:
    """The positions as a batch of records of which nothing else is known."""
    from lite.records.decode import as_batch, labelled_dtype

    return replace(as_batch(np.zeros(len(pieces), labelled_dtype)), pieces=pieces, hands=hands, in_check=in_check)


def export(
    net: str, output: Path, data: Sequence[Path] = (), draw: bool = True, overwrite: bool = False
) -> dict[str, Any]:
    """Write a network for other programs: a trained one as ONNX, one of the engine's as an nn.bin, a C++ header or
    test vectors.

    {format, bytes}, with {max_error, positions} of ONNX, which is checked on records or else on random positions,
    {weights, weights_bytes}, the file beside it, of a header, {positions} of test vectors, and of an nn.bin
    {architecture, fv_scale, kept_cp_per_logit, cp_per_logit, untold_fv_scale, untold_cp_per_logit}: the FV_SCALE that
    keeps the network's scale best, what it makes of it, that scale, and what readers take that are told no FV_SCALE.
    draw: whether a policy-value network's draw head becomes an output. overwrite: whether a file that is there is
    replaced. Raises OSError or ValueError in words.
    """
    kind = kind_of(net)
    if not network_path(net).exists():
        raise FileNotFoundError(f"{net}: there is no such network")
    if kind in (Kind.VALUE_ONNX, Kind.POLICY_VALUE_ONNX):
        raise ValueError(f"{net}: is ONNX already")
    suffix = output.suffix.lower()
    wanted = FOLDED_SUFFIXES if kind is Kind.FOLDED else (".onnx",)
    if suffix not in wanted:
        remedy = f"end it in {' or '.join(wanted)}"
        if kind is Kind.VALUE and suffix in FOLDED_SUFFIXES:
            remedy = f"to write {suffix} fold it first: liteshogi fold {net} -o net.safetensors"
        raise ValueError(f"{output}: {net} is {kind.value}, which is written as {', '.join(wanted)}; {remedy}")
    if data and kind is Kind.FOLDED:
        raise ValueError("--data: is to check ONNX on, and this is no ONNX")
    if not draw and kind is not Kind.POLICY_VALUE:
        raise ValueError(f"--no-draw: is for policy-value networks, and {net} is {kind.value}")
    if kind is Kind.FOLDED:
        return _export_folded(net, output, overwrite)
    check_output(output, overwrite=overwrite, inputs=(network_path(net),))
    from export.positions import read_sample

    if kind is Kind.VALUE:
        from export.onnx_export import CHECKED, export_onnx
        from lite.training.checkpoint import load_model

        sample = read_sample(data, CHECKED)
        error = export_onnx(load_model(net)[0], output, sample)
    else:
        from experiments.resnet.network import load_resnet
        from experiments.resnet.onnx import CHECKED as PLANES_CHECKED
        from experiments.resnet.onnx import export_resnet

        sample = read_sample(data, PLANES_CHECKED)
        error = export_resnet(load_resnet(net)[0], output, sample, draw)
    return {"format": "onnx", "max_error": error, "positions": len(sample), "bytes": output.stat().st_size}


def _export_folded(net: str, output: Path, overwrite: bool) -> dict[str, Any]:
    """Write a network of the engine's as what the file's name asks for, see `export`. That it can be such a thing at
    all is asked before a file is in its way."""
    network, inputs = load_network(net), (network_path(net),)
    if output.suffix.lower() == ".json":
        from export.vectors import write_vectors

        check_output(output, overwrite=overwrite, inputs=inputs)
        count = write_vectors(network, network_path(net).name, output)
        return {"format": "test vectors", "positions": count, "bytes": output.stat().st_size}
    if output.suffix.lower() == ".h":
        from export.cpp import weights_file, write_header

        weights = weights_file(output)
        for path in (output, weights):
            check_output(path, overwrite=overwrite, inputs=inputs)
        size, beside = write_header(network, network_path(net).name, output)
        return {"format": "C++", "weights": str(weights), "weights_bytes": beside, "bytes": size}
    from export.nnue import nearest_fv_scale, nnue_architecture, write_nnue

    architecture = nnue_architecture(network)
    check_output(output, overwrite=overwrite, inputs=inputs)
    size = write_nnue(network, output)
    fv_scale, untold = nearest_fv_scale(network), load_network(output).output_divisor
    per_logit = network.output_divisor / network.logit_per_output
    return {
        "format": "nn.bin",
        "architecture": str(architecture),
        "fv_scale": fv_scale,
        "kept_cp_per_logit": per_logit / fv_scale,
        "cp_per_logit": network.cp_per_logit,
        "untold_fv_scale": untold,
        "untold_cp_per_logit": per_logit / untold,
        "bytes": size,
    }


def bench(net: str, depth: int | None = None, nodes: int | None = None) -> dict[str, Any]:
    """Measure the speed of the search that plays with a network: by `search.alphabeta.bench`, with a depth and a limit
    of nodes per search, or by `search.puct.playout_speed`. Raises OSError, or ValueError for a network that no engine
    here plays."""
    kind = kind_of(net)
    if kind is Kind.FOLDED:
        from search.alphabeta.bench import DEPTH, POSITIONS, signature

        done = 0

        def measure() -> tuple[int, str]:
            return done, f"{done} of {len(POSITIONS)} positions"

        def searched(number: int) -> None:
            nonlocal done
            done = number
            progress.show()

        with Progress(len(POSITIONS), measure) as progress:
            return asdict(signature(net, DEPTH if depth is None else depth, nodes, searched))
    if kind is not Kind.POLICY_VALUE_ONNX:
        raise ValueError(_unplayable(net, kind))
    for name, limit in (("depth", depth), ("nodes", nodes)):
        if limit is not None:
            raise ValueError(f"{net}: PUCT searches it, whose searches have no --{name} here")
    from search.puct.playout_speed import measure_playouts

    return asdict(measure_playouts(Path(net)))


def as_player(command: str) -> tuple[str, tuple[str, ...]]:
    """The command and the options of a USI engine; a network's file or name stands for this engine with it, and a
    folder with a source tree of this engine's for what lies there.

    Raises OSError or ValueError in words for a network that no engine here plays, and for a pipe or a device.
    """
    path = Path(command)
    # os.path takes a command that is too long for a path for none, where pathlib raises.
    if command != "liteshogi" and os.path.isfile(path / "liteshogi" / "__main__.py"):
        return _source_tree(path), ()
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        require_file(path)
    is_network = os.path.isfile(path) and (path.suffix in (".safetensors", ".onnx") or is_nnue(path))
    is_run = os.path.isdir(path) and command != "liteshogi"  # which is this program, in its own source tree too
    if not is_shipped(command) and not is_network and not is_run:
        return command, ()
    kind = kind_of(command)
    if kind is Kind.FOLDED:
        load_network(command)  # rather now than as a loss in every game
        return "liteshogi", (f"EvalFile={command if is_shipped(command) else path.absolute()}",)
    if kind is Kind.POLICY_VALUE_ONNX:
        return f"liteshogi puct {shlex.quote(str(path.absolute()))}", ()
    raise ValueError(_unplayable(command, kind))


def _source_tree(folder: Path) -> str:
    """The command of the engine whose sources lie in a folder, by this Python and what is installed for it."""
    start = (
        f"import sys; sys.path.insert(0, {folder.absolute().as_posix()!r}); from liteshogi.__main__ import main; main()"
    )
    return shlex.join([Path(sys.executable).as_posix(), "-c", start])


def _unplayable(net: str, kind: Kind) -> str:
    """Why no engine here plays with a network, and what to do."""
    remedies = {
        Kind.VALUE: f"fold it first: liteshogi fold {net} -o net.safetensors",
        Kind.POLICY_VALUE: f"write it as ONNX first: liteshogi export {net} -o net.onnx",
        Kind.VALUE_ONNX: "play with the folded network that it was made from",
    }
    return f"{net}: is {kind.value}, which does not play; {remedies[kind]}"
