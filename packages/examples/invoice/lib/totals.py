"""Finds the gross total of an invoice as printed, with its currency, for any issuer and layout.

Every amount is given a label: the words left of it on its line, else the head of its column. Labels give a score. Then amounts that confirm one another raise it (net + tax = gross, a column that adds up, total - paid = due). The best score wins.
"""

from dataclasses import dataclass

import currencies
import evidence
from layout import Line, lines_from_words
from mentions import find_mentions

# The least score of a total. Below it, no words of the document call any amount its total.
ENOUGH = 26


@dataclass(slots=True, frozen=True)
class Total:
    amount: float
    currency: str | None
    # The words beside the amount that call it the total, for the person who checks it.
    label: str
    score: int


def find_total(words: list) -> Total | None:
    """Finds the total from words with positions: [page, x0, y0, x1, y1, text]."""
    return total_of(lines_from_words(words))


def total_of(lines: list[Line]) -> Total | None:
    mentions = find_mentions(lines)
    ranked = evidence.rank(mentions)
    if not ranked or ranked[0].score < ENOUGH:
        return None
    best = ranked[0]
    document = "\n".join(line.text for line in lines)
    marks = [m.mark for m in mentions if m.mark]
    mark = next((m.mark for m in best.mentions if m.mark), None)
    currency = currencies.settle(mark, document, marks)
    return Total(float(best.value), currency, best.label, round(best.score))
