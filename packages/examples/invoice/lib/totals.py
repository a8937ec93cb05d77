"""Finds the gross total of an invoice as printed, with its currency, for any issuer and layout.

Every amount gets a label: the words left of the amount on its line, or else the head of its column. The label
determines a score. Amounts that confirm one another raise their scores (net + tax = gross, a column that adds up, total
- paid = due). The amount with the best score is the total.
"""

from dataclasses import dataclass

import currencies
import evidence
from layout import Line, lines_from_words
from mentions import find_mentions

# The least score of a total. If every amount has a lower score, no words of the document call an amount the total.
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
