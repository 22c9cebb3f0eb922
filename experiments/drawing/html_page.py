"""HTML pages in one file, without references to other files or servers."""

from __future__ import annotations

import json
from html import escape
from typing import Any


def html_page(title: str, style: str, body: str, language: str = "en") -> str:
    """Return a page; `style` is CSS, `body` is HTML."""
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
    """Return an element with the id `name` that holds a JSON value for the page's scripts; `<` is escaped in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
