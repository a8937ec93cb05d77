"""Finds the currency of an amount: the mark beside it, or else other hints in the document."""

import re
from collections import Counter

CODES = (
    "AED ARS ATS AUD BDT BEF BGN BHD BRL CAD CHF CLP CNY COP CZK DEM DKK EGP EUR FRF GBP GHS HKD HRK HUF IDR ILS INR ISK JOD JPY KES KRW KWD"
    " LKR MAD MXN MYR NGN NLG NOK NZD OMR PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD TZS UAH UGX USD UYU VND"
    " XAF XOF ZAR"
).split()

# Signs of a single currency. A longer sign comes before a sign that is its prefix.
SIGNS = {
    "US$": "USD", "U$S": "USD", "CA$": "CAD", "CAD$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD", "S$": "SGD",
    "HK$": "HKD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₴": "UAH", "₺": "TRY",
    "₪": "ILS", "₩": "KRW", "฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN", "₵": "GHS", "₸": "KZT", "円": "JPY", "元": "CNY",
    "zł": "PLN", "zl": "PLN", "Kč": "CZK", "Kc": "CZK", "Ft": "HUF", "lei": "RON", "LEI": "RON", "лв": "BGN",
    "руб": "RUB", "грн": "UAH", "SFr": "CHF", "sFr": "CHF", "Fr": "CHF", "RM": "MYR", "Rp": "IDR", "KSh": "KES",
    "TL": "TRY", "Dhs": "AED", "Rs": "INR", "RS": "INR", "rs": "INR", "Re": "INR", "euro": "EUR", "euros": "EUR", "Euro": "EUR",
    "Euros": "EUR", "EURO": "EUR", "EUROS": "EUR", "Eur": "EUR", "eur": "EUR", "GH₵": "GHS", "RMB": "CNY", "S/.": "PEN", "S/": "PEN", "đ": "VND",
}  # fmt: skip
# Signs that several currencies share. Hints in the document decide which currency is meant; without a hint, it is the first one.
SHARED = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "COP", "CLP", "ARS", "TWD"),
    "kr": ("SEK", "DKK", "NOK", "ISK"),
    "Kr": ("SEK", "DKK", "NOK", "ISK"),
    "KR": ("SEK", "DKK", "NOK", "ISK"),
    "¥": ("JPY", "CNY"),
    "￥": ("JPY", "CNY"),
    "R": ("ZAR",),
}
# Words that decide which of the shared currencies a document uses.
HINTS = {
    "USD": r"\bUSD\b|\bUS\s?dollars?\b|\bunited states dollars?\b",
    "CAD": r"\bCAD\b|canadian dollars?|\b(?:HST|QST|TVQ|TPS)\b|\bGST/HST\b",
    "AUD": r"\bAUD\b|australian dollars?|\bA\.?B\.?N\.?\b[:\s]*\d",
    "NZD": r"\bNZD\b|new zealand dollars?|\bNZBN\b|\bnew zealand\b(?=[\s\S]*\bGST\b)",
    "SGD": r"\bSGD\b|singapore dollars?|\bsingapore\b(?=[\s\S]*\bGST\b)|\bGST Reg",
    "HKD": r"\bHKD\b|hong kong dollars?",
    "MXN": r"\bMXN\b|\bCFDI\b|\bR\.?F\.?C\.?\b[:\s]|pesos mexicanos",
    "COP": r"\bCOP\b|pesos colombianos|\bDIAN\b",
    "CLP": r"\bCLP\b|pesos chilenos|\bR\.?U\.?T\.?\b[:\s]",
    "ARS": r"\bARS\b|pesos argentinos|\bCUIT\b",
    "TWD": r"\bTWD\b|\bNTD\b",
    "DKK": r"\bDKK\b|\bCVR\b|\bat betale\b|\bbeløb|\bi alt\b|\bdanmark\b|\brabat\b|\benhedspris\b|\bheraf\b",
    "NOK": r"\bNOK\b|\bmva\b|\bå betale\b|beløp\b|\bnorge\b|\borgnr\b",
    "ISK": r"\bISK\b|\bVSK\b|\bkennitala\b",
    "SEK": r"\bSEK\b|\batt betala\b|\bbankgiro\b|\bbelopp\b|\bsverige\b",
    "CNY": r"\bCNY\b|\bRMB\b|人民币|增值税|价税|税额|合计|元",
    "JPY": r"\bJPY\b|[\u3040-\u30ff]|\byen\b|消費税|合計|株式会社",
}
# Hints for documents without any currency mark: a tax number or a tax that only one country has.
REGIMES = {
    "INR": r"\bGSTIN\b|\b[CSI]GST\b|\bVAT/TIN\b|\brupees?\b",
    "GBP": r"\bVAT (?:reg(?:istration)?\.? )?(?:no|number)\.?:? ?GB|\bGB ?\d{3} ?\d{4} ?\d{2}\b|\bpounds sterling\b",
    "PLN": r"\bNIP\b|\bPLN\b",
    "CHF": r"\bCHE-?\d|\bMWST-Nr\. CHE",
    "CZK": r"\bDIČ\b",
    "HUF": r"\badószám\b|\bforint\b",
    "EUR": r"\beuros?\b|\b(?:DE ?\d{9}|FR ?\w\w ?\d{9}|NL ?\d{9} ?B ?\d\d|ATU ?\d{8}|BE ?0\d{9}|IT ?\d{11}|ES ?\w\d{7}\w)\b",
    "DKK": HINTS["DKK"],
    "NOK": HINTS["NOK"],
    "SEK": HINTS["SEK"],
    "BRL": r"\bCNPJ\b",
    "AUD": HINTS["AUD"],
}

_letters = sorted([*SIGNS, *SHARED, *CODES], key=len, reverse=True)


def _mark(sign: str) -> str:
    """Returns the pattern of a sign. A sign of letters must not be part of a word ("Fr" in "Freitag"), but may touch digits ("Rs1939", "45EUR")."""
    before = r"(?<![^\W\d_])" if sign[0].isalpha() else ""
    after = r"(?![^\W\d_])" if sign[-1].isalpha() else ""
    return before + re.escape(sign) + after + (r"\.?" if sign[-1].isalpha() and sign not in CODES else "")


MARK = "(?:" + "|".join(_mark(sign) for sign in _letters) + ")"
_MARK = re.compile(MARK)
# Signs that also have other meanings ("Mo.-Fr. 08.30"): beside a whole number they are no currency mark.
SHY = {"R", "Re", "Fr", "TL", "RM", "KR", "RS", "lei", "LEI"}
NAMES = {
    "us dollars": "USD", "u.s. dollars": "USD", "canadian dollars": "CAD", "australian dollars": "AUD", "euros": "EUR", "euro": "EUR",
    "pounds sterling": "GBP", "british pounds": "GBP", "swiss francs": "CHF", "schweizer franken": "CHF", "indian rupees": "INR",
}  # fmt: skip
_NAMED = rf"({MARK}|{'|'.join(map(re.escape, NAMES))})(?!\w)"
DECLARED = re.compile(
    r"(?:currency|w[äa]hrung|devise|valuta|moneda|divisa|munt(?:eenheid)?|waluta|moeda|mena|měna|para birimi)\W{0,12}(?:\w+\s?\()?"
    rf"{_NAMED}"
    r"|(?:prices?|amounts?|charges|beträge|preise|montants?|bedragen|prijzen|importes?|importi|valores|kwoty|belopp|beløb|beløp)"
    rf"\b[^.\n]{{0,40}}?\b(?:in|en|em|w|i)\s{_NAMED}",
    re.IGNORECASE,
)
THREE_DECIMALS = {"BHD", "JOD", "KWD", "OMR", "TND"}


def currencies_of(mark: str) -> tuple[str, ...]:
    """Returns the meanings of a mark, the likeliest first: "€" -> ("EUR",), "$" -> ("USD", "CAD", ...)."""
    sign = mark.rstrip(".")
    if sign in CODES:
        return (sign,)
    if sign in SIGNS:
        return (SIGNS[sign],)
    return SHARED.get(sign, ())


def marks_in(text: str) -> list[str]:
    """Returns the currency marks in a label or header, such as "Total EUR". Signs with other meanings ("R", "Fr") are left out."""
    return [m for m in _MARK.findall(text) if m.rstrip(".") not in SHY]


def settle(mark: str | None, document: str, other_marks: list[str]) -> str | None:
    """Returns the currency of an amount; None if the document does not show it. `mark` is the mark beside the amount,
    if there is one."""
    if mark:
        options = currencies_of(mark)
        return options[0] if len(options) == 1 else _by_hint(options, document, other_marks)
    for found in (_declared(document), _commonest(other_marks), _commonest(marks_in(document))):
        if found:
            return settle(found, document, other_marks)
    return next((code for code, hint in REGIMES.items() if re.search(hint, document, re.IGNORECASE)), None)


def _declared(document: str) -> str | None:
    """Returns the currency that the document states: "Currency: EUR", "all charges are in US Dollars"."""
    said = DECLARED.search(document)
    if not said:
        return None
    name = said[1] or said[2]
    return NAMES.get(name.lower(), name)


def _commonest(marks: list[str]) -> str | None:
    signs = [m.rstrip(".") for m in marks]
    counted = Counter(s for s in signs if currencies_of(s) and (s not in SHY or signs.count(s) > 2))
    return counted.most_common(1)[0][0] if counted else None


def _by_hint(options: tuple[str, ...], document: str, other_marks: list[str]) -> str:
    meanings = [currencies_of(m) for m in [*other_marks, *marks_in(document)]]
    named = Counter(m[0] for m in meanings if len(m) == 1 and m[0] in options)
    if named:
        return named.most_common(1)[0][0]
    for code in options:
        if code in HINTS and re.search(HINTS[code], document, re.IGNORECASE):
            return code
    return options[0]
