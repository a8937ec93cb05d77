"""Reads an invoice in plain text. Its total is the amount beside words such as "total", not the largest number."""

import re
from dataclasses import dataclass

# Words before a gross total, in groups. The first group is the surest sign of a gross total.
TOTAL_WORDS = [
    ["amount due", "total amount due", "total due", "zahlbetrag", "somme à payer", "te betalen"],
    ["grand total", "invoice total", "gesamtbetrag", "total facture", "totaalbedrag"],
    ["total", "totaal"],
]
NUMBER_WORDS = re.compile(r"invoice (?:no\.?|number)|rechnungsnummer", re.IGNORECASE)
MARK = r"EUR|USD|GBP|CHF|INR|[€$£₹]|\bRs\b"
NUMBER = r"(?<![\d.,])(?:\d{1,3}(?:[ .,']\d{3})+|\d+)(?:[.,]\d{1,2})?"
AMOUNT = re.compile(rf"(?P<before>{MARK})?\s*(?P<number>{NUMBER})\s*(?P<after>{MARK})?(?:\s*TTC)?$")
CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "₹": "INR", "Rs": "INR"}


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
        raise ValueError("the invoice has no text: run text recognition (OCR) over a scan first")
    text_of_total, mark = find_total(lines)
    mark = mark or next(iter(re.findall(MARK, text)), "")
    return Invoice(lines[0], find_number(lines), CURRENCIES.get(mark, mark), amount(text_of_total), text_of_total)


def find_total(lines: list[str]) -> tuple[str, str]:
    """Returns the total as printed, and its currency mark. The total is the amount on the last line that starts with words of the surest group."""
    for words in TOTAL_WORDS:
        for line in reversed(lines):
            found = AMOUNT.search(line) if line.lower().startswith(tuple(words)) else None
            if found:
                return found["number"], found["before"] or found["after"] or ""
    raise ValueError(f"no line begins with a word such as {', '.join(words[0] for words in TOTAL_WORDS)} and ends with an amount")


def find_number(lines: list[str]) -> str:
    for line in lines:
        found = NUMBER_WORDS.search(line)
        if found:
            return line[found.end() :].strip(" :#")
    return "without a number"


def amount(text: str) -> float:
    """Reads 1,249.50 and 1.249,50 and 1249.5: the last separator is the decimal one if one or two digits follow it."""
    digits = re.sub(r"[^\d.,]", "", text)
    whole, separator, fraction = re.fullmatch(r"([\d.,]*?)(?:([.,])(\d{1,2}))?", digits).groups()
    return float(re.sub(r"[.,]", "", whole) + ("." + fraction if separator else ""))
