"""Commands as text for the user's shell."""

from __future__ import annotations

import sys

import pytest

from search.system.command_line import shell_text


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("linux", "liteshogi fold 'C:\\runs\\a' 'two words' '棋譜' -o net.safetensors ''"),
        ("win32", 'liteshogi fold C:\\runs\\a "two words" 棋譜 -o net.safetensors ""'),
    ],
)
def test_a_command_can_be_copied_into_the_shell(monkeypatch: pytest.MonkeyPatch, platform: str, text: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    words = ("liteshogi", "fold", r"C:\runs\a", "two words", "棋譜", "-o", "net.safetensors", "")
    assert shell_text(words) == text
