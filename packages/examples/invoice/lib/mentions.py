"""Every amount of a document with what its surroundings call it: its line to the left, its column above, its suffix."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from currencies import marks_in
from labels import NONE, SCORES, Label, classify, heads_items, plain
from layout import Cell, Line
from money import Amount, amounts_in, decimal_sign

WHOLE = ("gross", "due", "total", "incl")
FAR_HEAD = 8  # heights of white between two rows end a column
MAX_ROWS = 60


@dataclass(slots=True)
class Mention:
    value: Decimal
    mark: str | None
    strong: bool
    row: int
    page: int
    x0: float
    x1: float
    label: Label
    score: float


@dataclass(slots=True)
class _Found:
    """An amount in its cell, before it is labelled."""

    amount: Amount
    cell: int
    x0: float
    x1: float
    mark: str | None
    strong: bool

    @property
    def centre(self) -> float:
        return (self.x0 + self.x1) / 2


def find_mentions(lines: list[Line]) -> list[Mention]:
    decimals = decimal_sign("\n".join(line.text for line in lines))
    rows = [_read(line, decimals) for line in lines]
    return [mention for at in range(len(lines)) for mention in _label_row(lines, rows, at)]


def _read(line: Line, decimals: str | None) -> list[_Found]:
    found = []
    for at, cell in enumerate(line.cells):
        for amount in amounts_in(cell.text, decimals):
            mark = amount.mark or _mark_beside(line.cells, at, amount)
            x0, x1 = cell.place(amount.start, amount.end)
            found.append(_Found(amount, at, x0, x1, mark, amount.strong or bool(mark)))
    strong = [f for f in found if f.strong]
    return strong or [f for f in found if _ends_cell(line.cells[f.cell], f.amount)]


def _mark_beside(cells: list[Cell], at: int, amount: Amount) -> str | None:
    """A currency that has a cell of its own: "EUR | 34,73" or "34,73 | EUR"."""
    before = cells[at - 1].text if at and not cells[at].text[: amount.start].strip() else ""
    after = cells[at + 1].text if at + 1 < len(cells) and not cells[at].text[amount.end :].strip() else ""
    for text in (before, after):
        marks = marks_in(text)
        if len(marks) == 1 and len(text.strip()) <= len(marks[0]) + 1:
            return marks[0]
    return None


def _ends_cell(cell: Cell, amount: Amount) -> bool:
    return not cell.text[amount.end :].strip()


def _label_row(lines: list[Line], rows: list[list[_Found]], at: int) -> list[Mention]:
    row, line, mentions = rows[at], lines[at], []
    group: list[_Found] = []
    label = NONE
    for number, found in enumerate(row):
        own = _label_left(line, row, number)
        if own is None and group:
            group.append(found)
            continue
        mentions += _mentions_of(lines, rows, at, group, label)
        group, label = [found], NONE if own is None or _is_prose(own) and number + 1 < len(row) else own
    return mentions + _mentions_of(lines, rows, at, group, label)


def _is_prose(label: Label) -> bool:
    """A sentence that only happens to share the line with a row of sums."""
    return label.kind not in WHOLE and len(label.text.split()) > 6


def _label_left(line: Line, row: list[_Found], number: int) -> Label | None:
    """What the words left of an amount call it; None where there are no words between it and the amount before."""
    found = row[number]
    before = row[number - 1] if number else None
    pieces = []
    for at in range(found.cell, (before.cell if before else 0) - 1, -1):
        start = before.amount.end if before and before.cell == at else 0
        end = found.amount.start if at == found.cell else None
        pieces.append(line.cells[at].text[start:end])
    pieces = [piece for piece in pieces if plain(piece)]
    if not pieces:
        return None
    text, best = "", NONE
    for piece in pieces:
        text = f"{piece} {text}".strip()
        label = classify(text)
        if best.kind == "none":
            best = label
        elif label.kind in ("gross", "due", "net", "other") and best.kind not in WHOLE[:3]:
            return label
        else:
            break
    return best


def _suffix(line: Line, found: _Found) -> Label:
    """Words right behind an amount that end its cell: "29.99 € TTC"."""
    rest = line.cells[found.cell].text[found.amount.end :]
    words = plain(rest).split()
    return classify(rest) if 0 < len(words) <= 4 and not any(c.isdigit() for c in rest.split("%")[0][:4]) else NONE


def _mentions_of(lines: list[Line], rows: list[list[_Found]], at: int, group: list[_Found], label: Label) -> list[Mention]:
    """The mentions of amounts that share one label. With several (net | tax | gross) sums and column heads tell them apart."""
    crown = _sum_of_others(group)
    mentions = []
    for number, found in enumerate(group):
        kind, score, text = label.kind, float(label.score), label.text
        if label.kind == "count" and found.mark:
            kind, score = "total", float(SCORES["total"])
        if label.kind == "none" or len(group) > 1:
            kind, score, text = _by_column(lines, rows, at, found, label, number, group, crown)
        kind, score = _with_suffix(_suffix(lines[at], found), kind, score)
        score -= 15 if len(text.split()) > 8 else 0
        if kind in WHOLE or kind == "amount":
            score -= 0 if found.strong else 22
        mark = found.mark or next(iter(marks_in(lines[at].cells[found.cell].text)), None)
        mentions.append(
            Mention(found.amount.value, mark, found.strong, at, lines[at].page, found.x0, found.x1, Label(kind, text), score)
        )
    return mentions


def _sum_of_others(group: list[_Found]) -> _Found | None:
    """The one that others of the row add up to: gross beside its net and tax, or the last of subtotal, discount, tax, total."""
    values = [f.amount.value for f in group]
    for last in range(len(group) - 1, 1, -1):
        if values[last] and any(sum(values[first:last]) == values[last] != values[first] for first in range(last - 1)):
            return group[last]
    for whole in sorted(group, key=lambda f: -abs(f.amount.value)):
        parts = [f for f in group if f is not whole and f.amount.value]
        if any(a is not b and a.amount.value + b.amount.value == whole.amount.value for a in parts for b in parts):
            return whole
    return None


def _by_column(lines, rows, at, found, label, number, group, crown) -> tuple[str, float, str]:
    head, distance, of_items = _head(lines, rows, at, found)
    named = classify(head)
    if label.kind == "none":
        if named.kind == "none":
            return "none", 0.0, ""
        listed = 45 if of_items else 25 if _more_below(lines, rows, at, found) else 0
        score = named.score - 12 - min(distance, 4) * 3 - listed + (8 if found is crown else 0)
        return named.kind, score, named.text
    if crown:
        if found is crown:
            return label.kind, label.score + 4, label.text
        smaller = min((f for f in group if f is not crown), key=lambda f: abs(f.amount.value))
        return ("tax", 0.0, label.text) if found is smaller else ("net", 10.0, label.text)
    if named.kind in ("net", "tax", "other", "paid", "previous"):
        return named.kind, float(named.score if label.kind in WHOLE else 0), label.text
    last = number == len(group) - 1
    return label.kind, label.score - (0 if last or named.kind in WHOLE else 25), label.text


def _with_suffix(suffix: Label, kind: str, score: float) -> tuple[str, float]:
    if suffix.kind in ("incl", "gross"):
        return ("gross", max(score, 84.0)) if kind in ("total", "amount") else (kind if kind != "none" else "incl", max(score, 52.0))
    if suffix.kind in ("net", "tax") and kind in ("total", "amount", "none"):
        return suffix.kind, float(suffix.score)
    return kind, score


def _head(lines: list[Line], rows: list[list[_Found]], at: int, found: _Found) -> tuple[str, int, bool]:
    """The head of the amount's column, how many rows of figures lie between, and whether it heads a table of goods."""
    passed, below = 0, lines[at]
    for j in range(at - 1, max(at - MAX_ROWS, -1), -1):
        line = lines[j]
        if line.page != below.page or below.y0 - line.y1 > FAR_HEAD * below.height:
            break
        reach = 0.5 * line.height
        over = [c for c in line.cells if c.x0 < found.x1 + reach and c.x1 > found.x0 - reach]
        if not over:
            continue
        below = line
        if not any(ch.isalpha() for c in over for ch in plain(c.text)):
            passed += 1
            continue
        if rows[j] and any(f.x0 < found.x1 and f.x1 > found.x0 for f in rows[j]):
            passed += 1
            continue
        text = _words_over(max(over, key=lambda c: min(c.x1, found.x1) - max(c.x0, found.x0)), found, rows[at])
        return f"{_line_above(lines, j, found)} {text}", passed, heads_items(line.text)
    return "", passed, False


def _more_below(lines: list[Line], rows: list[list[_Found]], at: int, found: _Found) -> bool:
    """Whether the column goes on: a head over one figure is a label, over several it is a table."""
    for j in range(at + 1, min(at + 4, len(lines))):
        if lines[j].page == lines[at].page and lines[j].y0 - lines[at].y1 < 2 * lines[at].height:
            if any(abs(f.x1 - found.x1) < lines[at].height for f in rows[j]):
                return True
    return False


def _words_over(cell: Cell, found: _Found, rivals: list[_Found]) -> str:
    """Of a head that several columns share, the words over this one: it is cut where its gaps are widest."""
    inside = [f for f in rivals if cell.x0 - 1 < f.centre < cell.x1 + 1]
    if len(inside) < 2 or len(cell.spans) < len(inside) or found not in inside:
        return cell.text
    gaps = sorted(range(1, len(cell.spans)), key=lambda n: cell.spans[n - 1][3] - cell.spans[n][2])
    cuts = [0, *sorted(gaps[: len(inside) - 1]), len(cell.spans)]
    own = inside.index(found)
    return cell.text[cell.spans[cuts[own]][0] : cell.spans[cuts[own + 1] - 1][1]]


def _line_above(lines: list[Line], j: int, found: _Found) -> str:
    """A head of two lines, tightly set: "Wartość" over "brutto"."""
    if j == 0 or lines[j - 1].page != lines[j].page or lines[j].y0 - lines[j - 1].y0 > 1.35 * lines[j].height:
        return ""
    over = [c.text for c in lines[j - 1].cells if c.x0 < found.x1 and c.x1 > found.x0]
    return " ".join(text for text in over if plain(text) and not amounts_in(text))
