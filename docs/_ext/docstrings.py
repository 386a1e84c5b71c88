"""Docstrings as they are read in a terminal, made safe for reStructuredText.

A fitted attribute, ``objective_``, is a link to somewhere in reStructuredText, and |x| a substitution. Both
are plain in a docstring, and stay so: here the first becomes code where it stands free, and what is left is
escaped.
"""

from __future__ import annotations

import re

LITERAL = re.compile(r"(``.*?``|`[^`]*`_{0,2})")
EMPHASIS = re.compile(r"(?<!\*)(\*[^*\s][^*]*\*)(?!\*)")  # napoleon's types, in which code cannot stand
FREE = re.compile(r"(?<![^\s(\[])([A-Za-z]\w*_)(?=$|[\s.,;?!)\]])")
HANGING = re.compile(r"(?<=\w)(?<!\\)_(?!\w)")
FIELD = re.compile(r"(\s*:(?:ivar|vartype) .*?: )(.*)")


def safe_lines(lines: list[str]) -> list[str]:
    """The lines with fitted attributes as code and bars escaped, but for code, doctests and mathematics."""
    safe = []
    literal_below: int | None = None  # the indent above which lines are literal
    in_doctest = False
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if literal_below is not None and indent <= literal_below:
                literal_below = None
            in_doctest = in_doctest or line.lstrip().startswith(">>>")
        else:
            in_doctest = False
        if literal_below is not None or in_doctest:
            safe.append(line)
            continue
        if line.rstrip().endswith("::") or line.lstrip().startswith((".. math::", ".. code")):
            literal_below = indent
        safe.append(safe_line(line))
    return safe


def safe_line(line: str) -> str:
    """One line of text: what stands between backticks is left alone."""
    if field := FIELD.fullmatch(line):
        return field[1] + safe_line(field[2])
    if line.lstrip().startswith((".. ", "| ", ":ivar", ":vartype")):
        return line
    words = LITERAL.split(line)
    words[::2] = [with_code(part) for part in words[::2]]
    parts = LITERAL.split("".join(words))
    parts[::2] = [HANGING.sub(r"\_", part).replace("|", r"\|").replace(" -- ", " – ") for part in parts[::2]]
    return re.sub(r"(?<=\)) --$", ":", "".join(parts))  # of a parameter that a list describes


def with_code(text: str) -> str:
    """Fitted attributes that stand free as code, but for those in a type."""
    parts = EMPHASIS.split(text)
    parts[::2] = [FREE.sub(r"``\1``", part) for part in parts[::2]]
    return "".join(parts)
