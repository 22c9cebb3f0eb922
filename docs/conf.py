"""Configuration of Sphinx for `make docs`. A link without a target fails the build."""

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
