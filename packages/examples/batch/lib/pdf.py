"""The words of a PDF with their positions, by PyMuPDF."""

from __future__ import annotations

try:
    import pymupdf
except ImportError:  # before PyMuPDF 1.24 the module had only this name
    import fitz as pymupdf

UNMAPPED = "\ufffd"  # what a font without a Unicode table yields


def read_words(pdf: bytes, name: str) -> tuple[list[list], int]:
    """[page, x0, y0, x1, y1, text] for every word, as the page is seen (turned pages turned back), and the number of pages."""
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
    seen = page.rotation_matrix
    words = []
    for x0, y0, x1, y1, text, *_ in page.get_text("words"):
        box = (pymupdf.Rect(x0, y0, x1, y1) * seen).normalize()
        words.append([number, round(box.x0, 1), round(box.y0, 1), round(box.x1, 1), round(box.y1, 1), text])
    return words
