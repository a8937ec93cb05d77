"""What an invoice in plain text says: the amount beside the words for the total, not the largest number."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Words in front of a gross total, the surest first.
TOTAL_WORDS = ["amount due", "total due", "grand total", "gesamtbetrag", "total"]
NUMBER_WORDS = re.compile(r"invoice (?:no\.?|number)|rechnungsnummer", re.IGNORECASE)
AMOUNT = re.compile(r"(?P<before>[A-Z]{3}|[€$£])?\s*(?P<number>\d[\d.,' ]*\d|\d)\s*(?P<after>[A-Z]{3}|[€$£])?\s*$")
CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}


@dataclass
class Invoice:
    supplier: str
    number: str
    currency: str
    total: float
    total_text: str


def read_invoice(text: str) -> Invoice:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("the invoice is empty: pass the text of one")
    text_of_total, currency = find_total(lines)
    return Invoice(lines[0], find_number(lines), currency, amount(text_of_total), text_of_total)


def find_total(lines: list[str]) -> tuple[str, str]:
    """The amount on the line with the surest word for the total, as printed, and its currency."""
    for word in TOTAL_WORDS:
        for line in reversed(lines):
            found = AMOUNT.search(line) if line.lower().startswith(word) else None
            if found:
                sign = found["before"] or found["after"] or ""
                return found["number"].strip(), CURRENCIES.get(sign, sign)
    raise ValueError(f"no line begins with one of {', '.join(TOTAL_WORDS)} and ends with an amount")


def find_number(lines: list[str]) -> str:
    for line in lines:
        found = NUMBER_WORDS.search(line)
        if found:
            return line[found.end() :].strip(" :#")
    return "without a number"


def amount(text: str) -> float:
    """1,249.50 and 1.249,50 and 1249.5: the last separator is the decimal one if one or two digits follow it."""
    digits = re.sub(r"[^\d.,]", "", text)
    whole, separator, fraction = re.fullmatch(r"([\d.,]*?)(?:([.,])(\d{1,2}))?", digits).groups()
    return float(re.sub(r"[.,]", "", whole) + ("." + fraction if separator else ""))
