"""The documentation site: ``make docs`` builds it, and nothing that its reader opens comes from a network."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

from gallery_pages import WrittenFiles  # noqa: E402

import lowdim  # noqa: E402

# lowdim.datasets is a name for lowdim.data.datasets; the reference writes what people type.
sys.modules["lowdim.datasets"] = lowdim.datasets

project = "lowdim"
author = "The lowdim authors"
copyright = "the lowdim authors, under the MIT licence"
version = release = lowdim.__version__

extensions = [
    "docstrings",
    "executed",
    "myst_parser",
    "numpydoc",
    "offline",
    "repository",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/extra", "_build", "gallery/**/GALLERY_HEADER.rst", "**/sg_execution_times.rst"]
templates_path = ["_templates"]

# Every page is Markdown that reads well in a repository too: fences, tables, $formulas$, and headings as targets.
myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
executed_pages = ["start", "learn/*", "reference/*", "tutorials/*"]

mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}

default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "lowdim"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["generated/extra"]
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(HERE / "_static/search_scorer.js")
html_theme_options = {
    "logo": {"text": "lowdim"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher", "version-menu"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["version-note"],
}
html_sidebars = {"index": [], "which-method": [], "start": []}

# `make docs ARGS=man` writes lowdim.1.
man_pages = [("command-line", "lowdim", "embed many-dimensional data from the shell", author, 1)]

# Links within the site are checked by every build; `make docs ARGS=linkcheck` asks the network for the others.
linkcheck_anchors = False
linkcheck_timeout = 20
linkcheck_retries = 2

# Joblib starts a process of the gallery anew when the pictures in it have made it large, and warns. Nothing is lost.
warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)

(HERE / "generated" / "extra").mkdir(parents=True, exist_ok=True)


sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [
        f"../examples/gallery/{name}"
        for name in ("surfaces", "groups", "courses", "inputs", "belief", "large")
    ],
    "filename_pattern": r"\.py$",
    "image_scrapers": (WrittenFiles(),),
    "reset_modules": (),
    "capture_repr": (),
    "abort_on_example_error": True,
    "parallel": 2,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}
