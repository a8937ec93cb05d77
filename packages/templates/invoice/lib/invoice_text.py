"""Reads an invoice in plain text. The total is the amount on the last line that starts with a word for a total."""

import re
from decimal import Decimal

TOTAL = re.compile(r"^(?:grand total|amount due|total)\b(?P<words>.*?)(?P<amount>\d[\d,]*\.\d{2})\s*$", re.IGNORECASE)
NUMBER = re.compile(r"invoice (?:no\.?|number)\s*:?\s*(\S+)", re.IGNORECASE)
CURRENCY = re.compile(r"\b(EUR|USD|GBP|CHF)\b")


def find_total(text: str) -> Decimal:
    found = [match for line in text.splitlines() if (match := TOTAL.match(line.strip()))]
    if not found:
        raise ValueError("no line starts with Total, Grand total or Amount due and ends with an amount such as 734.40")
    return Decimal(found[-1]["amount"].replace(",", ""))


def find_number(text: str) -> str:
    found = NUMBER.search(text)
    return found[1] if found else "without a number"


def find_currency(text: str) -> str:
    found = CURRENCY.search(text)
    return found[1] if found else "EUR"
