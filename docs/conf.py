"""The site: Sphinx reads the pages of this folder as MyST Markdown (`make docs`).

Nothing is fetched while it is built or read: fonts, pictures and mathematics are in the site.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from voilattice import __version__

project = "voilattice"
author = "The voilattice developers"
copyright = author
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "mathml",
    "pages",
    "api",
    "commands",
    "http_api",
    "json_documents",
]
exclude_patterns = ["_build", "figures", "images"]
nitpicky = True
highlight_language = "none"

# Docstrings: numpydoc; `name` in them is a link where the site has the name.
default_role = "name"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# Links to headings work as on code hosts: [text](page.md#a-heading).
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]

nb_execution_mode = "cache"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "furo"
html_title = "voilattice"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#7fb3e6", "color-brand-content": "#7fb3e6"},
}
