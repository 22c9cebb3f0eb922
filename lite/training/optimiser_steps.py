"""Steps of the optimisers, by PyTorch's functions.

Its classes do the same, but their first step imports PyTorch's compiler, which takes as long as PyTorch itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd


class Optimiser(ABC):
    """Groups of parameters with rates and decays of their own, and the tensors that steps keep for each parameter."""

    def __init__(self, groups: list[dict[str, Any]], rate: float) -> None:
        """Each group has `params` and `weight_decay`; `rate` is the first learning rate, `lr`, of all."""
        self.param_groups: list[dict[str, Any]] = [group | {"lr": rate} for group in groups]
        self.state: dict[torch.Tensor, dict[str, torch.Tensor]] = {}

    @property
    def parameters(self) -> list[torch.Tensor]:
        """All parameters, in the order of the groups."""
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def zero_grad(self) -> None:
        """Remove the gradients of all parameters."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change every parameter that has a gradient."""
        for group in self.param_groups:
            parameters: list[torch.Tensor] = [parameter for parameter in group["params"] if parameter.grad is not None]
            if parameters:
                states = [self.state.setdefault(parameter, {}) for parameter in parameters]
                gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
                self._change(parameters, gradients, states, group["lr"], group["weight_decay"])

    @abstractmethod
    def _change(
        self,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        states: list[dict[str, torch.Tensor]],
        rate: float,
        decay: float,
    ) -> None:
        """Change the parameters of a group by their gradients."""


class AdamW(Optimiser):
    """Adam with decoupled weight decay, as `torch.optim.AdamW` with `fused`.

    Fused is one pass over the weights instead of a dozen, which halves the step of a table of a hundred megabytes.
    """

    betas = (0.9, 0.999)

    def _change(
        self,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        states: list[dict[str, torch.Tensor]],
        rate: float,
        decay: float,
    ) -> None:
        for parameter, state in zip(parameters, states, strict=True):
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
                for name in ("exp_avg", "exp_avg_sq"):
                    state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        adamw(
            parameters,
            gradients,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            lr=rate,
            weight_decay=decay,
            eps=1e-8,
            maximize=False,
        )


class MomentumSgd(Optimiser):
    """Gradient descent with momentum, as `torch.optim.SGD`."""

    momentum = 0.9

    def _change(
        self,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        states: list[dict[str, torch.Tensor]],
        rate: float,
        decay: float,
    ) -> None:
        buffers = [state.get("momentum_buffer") for state in states]
        sgd(
            parameters,
            gradients,
            buffers,
            weight_decay=decay,
            momentum=self.momentum,
            lr=rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )
        for state, buffer in zip(states, buffers, strict=True):
            assert buffer is not None, "the first step makes it"
            state["momentum_buffer"] = buffer
