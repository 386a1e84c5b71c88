"""Settings of the site: `make docs` builds it with warnings as errors, and it works without a network."""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))
os.environ.setdefault("MPLBACKEND", "Agg")

import api_pages  # noqa: E402
from site_parts import SavedPictures  # noqa: E402

project = "multikernel"
author = "multikernel developers"
copyright = "multikernel developers, BSD 3-Clause"
release = version = version_of("multikernel")
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "site_parts",
    "method_pages",
]
exclude_patterns = ["_ext", "_templates", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the scraper of the gallery is an object
nitpicky = True
smartquotes = False  # quoted values of parameters are code

# --- API ---------------------------------------------------------------------------------------------------
default_role = "name"
add_module_names = False
autosummary_generate = True
autosummary_imported_members = True
autosummary_filename_map = api_pages.filename_map()
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 100
viewcode_line_numbers = True

# --- Markdown and mathematics ------------------------------------------------------------------------------
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load what is not shipped

# --- examples ----------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "default_thumb_file": str(DOCS / "_static" / "logo.svg"),
    "image_scrapers": (SavedPictures(), "matplotlib"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 10**6,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
}

# --- look --------------------------------------------------------------------------------------------------
html_theme = "furo"
html_title = f"multikernel {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/logo.svg"
html_logo = "_static/logo.svg"
html_show_search_summary = False  # it would fetch pages, which browsers refuse on file://
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5c8a",
        "color-brand-content": "#0b5c8a",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
    },
    "dark_css_variables": {"color-brand-primary": "#7cc4ee", "color-brand-content": "#7cc4ee"},
}
