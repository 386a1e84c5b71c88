"""Reports: summarise a fitted model as a dictionary, then render it as a page, Markdown or JSON."""

from multikernel.report.markdown import render_markdown
from multikernel.report.render import find_renderer, render_html, save_report
from multikernel.report.summary import summarize
from multikernel.report.words import headline

__all__ = ["find_renderer", "headline", "render_html", "render_markdown", "save_report", "summarize"]
