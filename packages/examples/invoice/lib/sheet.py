"""The lines of a document with their amounts, and the heads of the columns with amounts."""

from dataclasses import dataclass

from currencies import marks_in
from labels import heads_items, plain
from layout import Cell, Line
from money import Amount, amounts_in, decimal_sign

# A gap of this many line heights between two rows ends a column.
FAR = 8
MAX_ROWS = 60
# The largest distance of the two lines of a head, in line heights.
TIGHT = 1.35


@dataclass(slots=True)
class Found:
    """An amount in its cell, without a label."""

    amount: Amount
    cell: int
    x0: float
    x1: float
    mark: str | None
    strong: bool

    @property
    def centre(self) -> float:
        return (self.x0 + self.x1) / 2


@dataclass(slots=True)
class Head:
    text: str = ""
    rows_between: int = 0
    # True for the head of a table of goods, whose columns contain prices and not totals.
    of_items: bool = False


class Sheet:
    def __init__(self, lines: list[Line]) -> None:
        decimals = decimal_sign("\n".join(line.text for line in lines))
        self.lines = lines
        self.rows = [_amounts_of(line, decimals) for line in lines]
        self._wordy = [[bool(plain(cell.text)) for cell in line.cells] for line in lines]

    def head_of(self, at: int, found: Found) -> Head:
        """Returns the nearest words above an amount in its column, with the number of rows between them that contain only figures."""
        passed, below = 0, self.lines[at]
        for above in range(at - 1, max(at - MAX_ROWS, -1), -1):
            line = self.lines[above]
            if line.page != below.page or below.y0 - line.y1 > FAR * below.height:
                break
            over = _over(line, found, reach=line.height / 2)
            if not over:
                continue
            below = line
            wordy = any(self._wordy[above][n] for n in over)
            if not wordy or any(f.x0 < found.x1 and f.x1 > found.x0 for f in self.rows[above]):
                passed += 1
                continue
            cell = max((line.cells[n] for n in over), key=lambda c: min(c.x1, found.x1) - max(c.x0, found.x0))
            text = f"{self._line_above(above, found)} {_words_over(cell, found, self.rows[at])}"
            return Head(text, passed, heads_items(line.text))
        return Head(rows_between=passed)

    def has_rows_below(self, at: int, found: Found) -> bool:
        """Returns True if more figures follow directly below. The words above are then the head of a table, not the label of one amount."""
        line = self.lines[at]
        for n in range(at + 1, min(at + 4, len(self.lines))):
            near = self.lines[n].page == line.page and self.lines[n].y0 - line.y1 < 2 * line.height
            if near and any(abs(f.x1 - found.x1) < line.height for f in self.rows[n]):
                return True
        return False

    def _line_above(self, at: int, found: Found) -> str:
        """Returns the upper line of a head with two lines: "Wartość" over "brutto"."""
        line, upper = self.lines[at], self.lines[at - 1]
        if at == 0 or upper.page != line.page or line.y0 - upper.y0 > TIGHT * line.height or self.rows[at - 1]:
            return ""
        return " ".join(upper.cells[n].text for n in _over(upper, found) if self._wordy[at - 1][n])


def _amounts_of(line: Line, decimals: str | None) -> list[Found]:
    """Returns the amounts of a line. Bare numbers count only if the line has no amount with decimals or a currency mark."""
    found = []
    for at, cell in enumerate(line.cells):
        for amount in amounts_in(cell.text, decimals):
            mark = amount.mark or _mark_beside(line.cells, at, amount)
            x0, x1 = cell.place(amount.start, amount.end)
            found.append(Found(amount, at, x0, x1, mark, amount.strong or bool(mark)))
    strong = [f for f in found if f.strong]
    return strong or [f for f in found if not line.cells[f.cell].text[f.amount.end :].strip()]


def _mark_beside(cells: list[Cell], at: int, amount: Amount) -> str | None:
    """Returns the currency mark in the cell beside an amount: "EUR | 34,73" or "34,73 | EUR"."""
    before = cells[at - 1].text if at and not cells[at].text[: amount.start].strip() else ""
    after = cells[at + 1].text if at + 1 < len(cells) and not cells[at].text[amount.end :].strip() else ""
    for text in (before, after):
        marks = marks_in(text)
        if len(marks) == 1 and len(text.strip()) <= len(marks[0]) + 1:
            return marks[0]
    return None


def _over(line: Line, found: Found, reach: float = 0) -> list[int]:
    return [n for n, c in enumerate(line.cells) if c.x0 < found.x1 + reach and c.x1 > found.x0 - reach]


def _words_over(cell: Cell, found: Found, rivals: list[Found]) -> str:
    """Returns the words above an amount. A cell over several columns is cut at its widest gaps, and the part above the amount counts."""
    inside = [f for f in rivals if cell.x0 - 1 < f.centre < cell.x1 + 1]
    if len(inside) < 2 or len(cell.spans) < len(inside) or found not in inside:
        return cell.text
    gaps = sorted(range(1, len(cell.spans)), key=lambda n: cell.spans[n - 1][3] - cell.spans[n][2])
    cuts = [0, *sorted(gaps[: len(inside) - 1]), len(cell.spans)]
    own = inside.index(found)
    return cell.text[cell.spans[cuts[own]][0] : cell.spans[cuts[own + 1] - 1][1]]
