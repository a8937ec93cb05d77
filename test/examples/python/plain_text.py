"""Parses lines and totals of texts whose columns are separated by two spaces or more, as in test documents."""

import paths  # noqa: F401
from layout import Line, Word, _line
from totals import Total, total_of


def lines_from_text(text: str) -> list[Line]:
    """Splits a text into words with positions. A form feed starts a page. A character is half a unit wide, so that gaps have realistic widths."""
    lines = []
    for page, sheet in enumerate(text.split("\f")):
        for number, raw in enumerate(sheet.splitlines()):
            row, line, at = [], raw.expandtabs(), 0
            for token in line.split():
                at = line.index(token, at)
                row.append(Word(page, at / 2, 2 * number, (at + len(token)) / 2, 2 * number + 2, token))
                at += len(token)
            if row:
                lines.append(_line(row))
    return lines


def find_total_in_text(text: str) -> Total | None:
    return total_of(lines_from_text(text))
