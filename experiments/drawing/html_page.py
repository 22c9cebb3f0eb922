"""Pages of one HTML file that holds all that it needs and asks for nothing over a network."""

from __future__ import annotations

import json
from html import escape
from typing import Any


def html_page(title: str, style: str, body: str, language: str = "en") -> str:
    """The page: its `style` is CSS, its `body` HTML."""
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def json_script(name: str, value: Any) -> str:
    """An element that holds a value for the page's scripts, found by its name: no tag of HTML begins in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
