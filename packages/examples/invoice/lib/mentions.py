"""Finds every amount of a document with its label: the words left of it, the head of its column, its suffix."""

from dataclasses import dataclass
from decimal import Decimal

from currencies import marks_in
from labels import NONE, SCORES, Label, classify, plain
from layout import Line
from sheet import Found, Sheet

# The kinds of amounts that can be the total of an invoice.
WHOLE = ("gross", "due", "total", "incl")

# The largest number of amounts in a row of sums. A longer row belongs to a table.
LONGEST_ROW = 12
# The largest number of words of a label. A longer text is a sentence.
PROSE = 6
# Deductions from the score of an amount: for a bare number, for words that form a sentence, and for an amount inside a
# row of sums.
WEAK, IN_PROSE, BESIDE_LAST = 22, 15, 25
# Deductions from the score of an amount that only the head of its column names.
UNDER_HEAD, PER_ROW, IN_TABLE, IN_ITEMS = 12, 3, 25, 45
# Additions to the score of an amount that is the sum of the other amounts in its row.
CROWN_IN_TABLE, CROWN = 8, 4


@dataclass(slots=True)
class Mention:
    value: Decimal
    mark: str | None
    strong: bool
    row: int
    page: int
    x1: float
    label: Label
    score: float


@dataclass(slots=True)
class _Group:
    """Amounts of one line that share a label: the words left of the first amount."""

    label: Label
    amounts: list[Found]
    crown: Found | None = None


def find_mentions(lines: list[Line]) -> list[Mention]:
    sheet = Sheet(lines)
    grouped = [(at, group) for at in range(len(lines)) for group in _groups(sheet, at)]
    return [_mention(sheet, at, group, found) for at, group in grouped for found in group.amounts]


def _groups(sheet: Sheet, at: int) -> list[_Group]:
    groups: list[_Group] = []
    row = sheet.rows[at]
    for number, found in enumerate(row):
        label = _label_left(sheet.lines[at], row, number)
        if label is None and groups:
            groups[-1].amounts.append(found)
        else:
            passing = label is None or (_is_prose(label) and label.kind not in WHOLE and number + 1 < len(row))
            groups.append(_Group(NONE if passing else label, [found]))
    for group in groups:
        group.crown = _sum_of_others(group.amounts)
    return groups


def _is_prose(label: Label) -> bool:
    return len(label.text.split()) > PROSE


def _label_left(line: Line, row: list[Found], number: int) -> Label | None:
    """Returns the label from the words left of an amount; None if no words are between the previous amount and this one."""
    found, before = row[number], row[number - 1] if number else None
    pieces = []
    for at in range(found.cell, (before.cell if before else 0) - 1, -1):
        start = before.amount.end if before and before.cell == at else 0
        end = found.amount.start if at == found.cell else None
        pieces.append(line.cells[at].text[start:end])
    pieces = [piece for piece in pieces if plain(piece)]
    return _nearest_meaning(pieces) if pieces else None


def _nearest_meaning(pieces: list[str]) -> Label:
    """Returns the label of the piece of text nearest to the amount. Adds the next piece if this makes the label more
    specific: "Total TTC" instead of "TTC"."""
    text, best = "", NONE
    for piece in pieces:
        text = f"{piece} {text}".strip()
        label = classify(text)
        if best.kind != "none":
            completes = label.kind in ("gross", "due", "net", "other") and best.kind not in ("gross", "due", "total")
            return label if completes else best
        best = label
    return best


def _mention(sheet: Sheet, at: int, group: _Group, found: Found) -> Mention:
    line = sheet.lines[at]
    label, score = _called(sheet, at, group, found)
    label, score = _with_suffix(_suffix(line, found), label, score)
    score -= IN_PROSE if len(label.text.split()) > PROSE + 2 else 0
    score -= WEAK if not found.strong and label.kind in (*WHOLE, "amount") else 0
    mark = found.mark or next(iter(marks_in(line.cells[found.cell].text)), None)
    return Mention(found.amount.value, mark, found.strong, at, line.page, found.x1, label, score)


def _called(sheet: Sheet, at: int, group: _Group, found: Found) -> tuple[Label, float]:
    if group.label.kind == "none":
        return _by_head(sheet, at, group, found)
    if len(group.amounts) > 1:
        return _by_place_in_row(sheet, at, group, found)
    if group.label.kind == "count" and found.mark:
        return Label("total", group.label.text), SCORES["total"]
    return group.label, group.label.score


def _by_head(sheet: Sheet, at: int, group: _Group, found: Found) -> tuple[Label, float]:
    """Returns the label from the head of the column, for an amount without words in its line. A distant head scores less."""
    head = sheet.head_of(at, found)
    named = classify(head.text)
    if named.kind == "none":
        return NONE, 0
    listed = IN_ITEMS if head.of_items else IN_TABLE if sheet.has_rows_below(at, found) else 0
    score = named.score - UNDER_HEAD - min(head.rows_between, 4) * PER_ROW - listed
    return named, score + (CROWN_IN_TABLE if found is group.crown else 0)


def _by_place_in_row(sheet: Sheet, at: int, group: _Group, found: Found) -> tuple[Label, float]:
    """Labels one of several amounts after the same words. The gross amount is the sum of the other amounts. If no
    amount is such a sum, the heads of the columns decide. If they do not decide, the last amount is the gross
    amount."""
    label = group.label
    if found is group.crown:
        return label, label.score + CROWN
    if group.crown:
        smallest = min((f for f in group.amounts if f is not group.crown), key=lambda f: abs(f.amount.value))
        return (Label("tax", label.text), 0) if found is smallest else (Label("net", label.text), 10)
    named = classify(sheet.head_of(at, found).text)
    if named.kind in ("net", "tax", "other", "paid", "previous"):
        return Label(named.kind, label.text), named.score if label.kind in WHOLE else 0
    stands_out = found is group.amounts[-1] or named.kind in WHOLE
    return label, label.score - (0 if stands_out else BESIDE_LAST)


def _sum_of_others(row: list[Found]) -> Found | None:
    """Returns the amount that is the sum of others in its row: the total after subtotal, discount and tax, or the gross beside net and tax."""
    group = row[-LONGEST_ROW:]
    values = [f.amount.value for f in group]
    for last in range(len(group) - 1, 1, -1):
        if values[last] and any(sum(values[first:last]) == values[last] != values[first] for first in range(last - 1)):
            return group[last]
    for whole in sorted(group, key=lambda f: -abs(f.amount.value)):
        parts = [f.amount.value for f in group if f is not whole and f.amount.value]
        if any(a + b == whole.amount.value for n, a in enumerate(parts) for b in parts[n + 1 :]):
            return whole
    return None


def _suffix(line: Line, found: Found) -> Label:
    """Returns the label of the words directly after an amount in its cell: "29.99 € TTC"."""
    rest = line.cells[found.cell].text[found.amount.end :]
    return classify(rest) if 0 < len(plain(rest).split()) <= 4 and not any(c.isdigit() for c in rest[:4]) else NONE


def _with_suffix(suffix: Label, label: Label, score: float) -> tuple[Label, float]:
    if suffix.kind in ("incl", "gross"):
        if label.kind in ("total", "amount"):
            return Label("gross", label.text), max(score, 84)
        return (label if label.kind != "none" else Label("incl", suffix.text)), max(score, 52)
    if suffix.kind in ("net", "tax") and label.kind in ("total", "amount", "none"):
        return suffix, suffix.score
    return label, score
