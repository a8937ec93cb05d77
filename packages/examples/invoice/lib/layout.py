"""Groups words with positions into visual lines of cells: the rows that a reader sees, in any drawing order of the PDF.

A word is (page, x0, y0, x1, y1, text), y growing downwards. A cell is a run of words without a column-wide gap.
"""

from dataclasses import dataclass, field

# The narrowest gap between columns, in heights of the line. A space is about 0.2 wide, and 0.4 in a justified text.
COLUMN_GAP = 0.55
# The widest gap that counts as one space, in heights of the line. It makes "1 234,56" one number.
WORD_GAP = 0.38
# The largest vertical distance of the centres of two words in one line, in heights of the smaller word.
SAME_LINE = 0.45
# The largest distance of two prints of one word, in points. Some programs print bold text by printing it twice.
OVERPRINT = 1.5


@dataclass(slots=True)
class Word:
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    text: str

    @property
    def height(self) -> float:
        return max(self.y1 - self.y0, 0.1)

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(slots=True)
class Cell:
    """The text of neighbouring words; `spans` has the position of each word in the text and on the page."""

    text: str
    x0: float
    x1: float
    spans: list[tuple[int, int, float, float]]

    def place(self, start: int, end: int) -> tuple[float, float]:
        """Returns the left and right edge of text[start:end] on the page."""
        hit = [(x0, x1) for begin, stop, x0, x1 in self.spans if begin < end and stop > start]
        return (min(x0 for x0, _ in hit), max(x1 for _, x1 in hit)) if hit else (self.x0, self.x1)


@dataclass(slots=True)
class Line:
    page: int
    y0: float
    y1: float
    cells: list[Cell] = field(default_factory=list)

    @property
    def height(self) -> float:
        return max(self.y1 - self.y0, 0.1)

    @property
    def text(self) -> str:
        return "  ".join(cell.text for cell in self.cells)


def lines_from_words(words: list) -> list[Line]:
    """Returns the visual lines, top to bottom, page by page."""
    rows: list[list[Word]] = []
    parsed = [word if isinstance(word, Word) else Word(*word) for word in words]
    for word in sorted(_printed_once(parsed), key=lambda w: (w.page, w.middle, w.x0)):
        row = next((row for row in reversed(rows[-6:]) if _belongs(word, row)), None)
        if row is None:
            rows.append([word])
        else:
            row.append(word)
    return [_line(sorted(row, key=lambda w: w.x0)) for row in rows]


def text_of(lines: list[Line]) -> str:
    """Returns the lines as text in which blanks separate the columns, for a person or a prompt."""
    widths = sorted((c.x1 - c.x0) / len(c.text) for line in lines for c in line.cells)
    unit = widths[len(widths) // 2] if widths and widths[len(widths) // 2] > 0 else 1.0
    out, page = [], lines[0].page if lines else 0
    for line in lines:
        if line.page != page:
            out.append("\f")
            page = line.page
        row = ""
        for cell in line.cells:
            row = (row + "  " if row else "").ljust(int(cell.x0 / unit)) + cell.text
        out.append(row.rstrip())
    return "\n".join(out)


def _printed_once(words: list[Word]) -> list[Word]:
    seen: dict[tuple, Word] = {}
    kept = []
    for word in words:
        if not word.text.strip():
            continue
        near = [
            (word.page, word.text, round(word.x0 / OVERPRINT) + dx, round(word.y0 / OVERPRINT) + dy)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
        ]
        if not any(key in seen for key in near):
            seen[near[4]] = word
            kept.append(word)
    return kept


def _belongs(word: Word, row: list[Word]) -> bool:
    """Returns True if the word is in the row: on the same level, and not above or below one of its words. Such a word would be in another line, printed close to the row."""
    first = row[0]
    if word.page != first.page:
        return False
    level = sum(w.middle for w in row) / len(row)
    if abs(word.middle - level) > SAME_LINE * min(word.height, min(w.height for w in row)):
        return False
    return not any(min(word.x1, w.x1) - max(word.x0, w.x0) > 0.5 * (word.x1 - word.x0) for w in row)


def _line(row: list[Word]) -> Line:
    line = Line(row[0].page, min(w.y0 for w in row), max(w.y1 for w in row))
    run: list[Word] = []
    for word in row:
        if run and word.x0 - run[-1].x1 > COLUMN_GAP * min(word.height, run[-1].height):
            line.cells.append(_cell(run))
            run = []
        run.append(word)
    line.cells.append(_cell(run))
    return line


def _cell(run: list[Word]) -> Cell:
    text, spans = "", []
    for at, word in enumerate(run):
        if at:
            gap = word.x0 - run[at - 1].x1
            text += " " if gap <= WORD_GAP * word.height else "  "
        spans.append((len(text), len(text) + len(word.text), word.x0, word.x1))
        text += word.text
    return Cell(text, run[0].x0, run[-1].x1, spans)
