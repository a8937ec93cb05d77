"""Reads the words of a PDF with their positions, with PyMuPDF."""

import math
from collections import Counter

try:
    import pymupdf
except ImportError:
    # Before PyMuPDF 1.24 the module had only the name `fitz`.
    import fitz as pymupdf

# PyMuPDF returns this character if the font has no Unicode table.
UNMAPPED = "\ufffd"


def read_words(pdf: bytes, name: str) -> tuple[list[list], int]:
    """Returns [page, x0, y0, x1, y1, text] for every word, and the number of pages. Pages are turned so that most of their text is upright."""
    with _open(pdf, name) as document:
        words = [word for number, page in enumerate(document) for word in _words_of(page, number)]
        pages = document.page_count
    text = "".join(word[5] for word in words)
    if not text or text.count(UNMAPPED) > len(text) / 2:
        raise ValueError(
            f"{name} has no readable text on its {pages} page(s): it is a scan; run text recognition (OCR) over it first"
        )
    return words, pages


def _open(pdf: bytes, name: str):
    try:
        document = pymupdf.open(stream=bytes(pdf), filetype="pdf")
    except Exception as error:
        raise ValueError(f"{name} is not a PDF that can be opened: {error}") from error
    if document.needs_pass:
        raise ValueError(f"{name} is locked with a password: ask the sender for a copy without one")
    return document


def _words_of(page, number: int) -> list[list]:
    """Returns the words of a page. The letters decide which side of the page is up, and not the rotation that the PDF
    states."""
    page.set_rotation(0)
    angle = _angle_of(page)
    with pymupdf.open() as upright:
        if angle:
            turned = upright.new_page(width=2 * page.rect.width, height=2 * page.rect.height)
            turned.show_pdf_page(turned.rect, page.parent, page.number, rotate=angle)
            page = turned
        return [[number, *(round(v, 1) for v in word[:4]), word[4]] for word in page.get_text("words")]


def _angle_of(page) -> float:
    """Returns the angle of most letters of a page, in degrees; 0 is from left to right."""
    letters: Counter[float] = Counter()
    for block in page.get_text("dict", flags=pymupdf.TEXTFLAGS_WORDS)["blocks"]:
        for line in block.get("lines", ()):
            cosine, sine = line["dir"]
            angle = round(math.degrees(math.atan2(sine, cosine)), 1)
            letters[angle] += sum(len(span["text"].strip()) for span in line["spans"])
    return max(letters, key=letters.__getitem__, default=0.0)
