# STAGE: TASK
import re

AMOUNT = re.compile(r"(?<![\w.,])-?\d{1,3}(?:[ .,']\d{3})*(?:[.,]\d{2})(?![\w%]|[.,]\d)|(?<![\w.,-])\d{2,7}(?![\w%]|[.,]\d)")
SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "₹": "INR", "Rs": "INR"}
CURRENCY = re.compile(r"€|\$|£|₹|\bRs\b|\b(?:EUR|USD|GBP|INR|CHF)\b")

# Words for the amount of a line, best first: the sum to be paid, then a total, then words that only resemble one.
LABELS = [
    (re.compile(r"grand total|amount due|total due|balance due|somme à payer|montant à payer|zu zahlen|te betalen", re.I), 40),
    (re.compile(r"total facture|gesamtbetrag|rechnungsbetrag|total for this invoice|invoice total|totaalbedrag", re.I), 35),
    (re.compile(r"\b(?:total|totaal|gesamt|summe)\b", re.I), 30),
]
NOT_GROSS = re.compile(
    r"sub-?\s?tot|subtotaal|zwischensumme|excl|exclusief|\bnett?o?\b|\bht\b|\b(?:vat|tva|btw|mwst|tax)\b(?!.*total)", re.I
)


def number(text):
    digits = re.sub(r"[ ']", "", text)
    decimal = max(digits.rfind("."), digits.rfind(","))
    if decimal >= 0 and len(digits) - decimal == 3:
        return float(re.sub(r"[.,]", "", digits[:decimal]) + "." + digits[decimal + 1 :])
    return float(re.sub(r"[.,]", "", digits))


candidates = []
for place, line in enumerate(context["ocr_text"].splitlines()):
    score = next((score for label, score in LABELS if label.search(line)), 0)
    amounts = AMOUNT.findall(line)
    if not score or not amounts:
        continue
    if NOT_GROSS.search(line):
        score -= 25
    # The gross amount is the last one of its line; of equal labels the later line sums up the earlier ones.
    candidates.append((score, place, number(amounts[-1]), line))

candidates = [found for found in candidates if found[0] >= 20]
if not candidates:
    raise ValueError(f"{context['pdf_name']}: no amount is called a total")

_, _, amount, line = max(candidates, key=lambda found: (found[0], found[1]))
marks = CURRENCY.findall(line) or CURRENCY.findall(context["ocr_text"])
context["total_amount"] = amount
context["currency"] = SYMBOLS.get(marks[0], marks[0]) if marks else None
context["total_label"] = re.sub(r"\s+", " ", re.split(AMOUNT, line)[0]).strip(" :€$£₹")
