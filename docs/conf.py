"""Sphinx's settings for these pages: sphinx-build -W docs build/html"""

import cbpe

project = "cbpe"
release = cbpe.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_show_copyright = False
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
