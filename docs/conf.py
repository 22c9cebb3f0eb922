"""How Sphinx builds these pages: `make docs`. Every link must lead somewhere, or the build fails."""

project = "LiteShogi"
author = "the LiteShogi maintainers"
extensions = ["myst_parser"]
exclude_patterns = ["guide/first_net.ipynb"]
html_theme = "furo"
html_title = "LiteShogi"
html_show_sphinx = False
html_show_copyright = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nitpicky = True
