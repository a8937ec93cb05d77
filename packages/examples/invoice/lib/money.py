"""Finds amounts in a text, in all common notations.

1,234.56  1.234,56  1 234,56  1'234.56  1,23,456.00  (12.00)  12,00-  EUR 12  12,-  ¥12,000
Not amounts: dates, times, percentages, quantities with a unit, parts of an identifier.
"""

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from currencies import MARK, SHY, THREE_DECIMALS, currencies_of

SPACE = " \u00a0\u202f\u2009"
MINUS = "-−–‒"
MONTH = (
    r"(?:jan|feb|fev|febr|mar|mär|mrz|maa|apr|abr|avr|may|mai|maj|mei|mag|giu|jun|juin|jui|jul|lug|aug|août|aou|ago|sep|set|okt"
    r"|oct|ott|out|nov|dec|dez|déc|des|dic|gen|ene|sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru)[^\W\d_]*\.?"
)
UNIT = (
    r"(?:kg|mg|g|kwh|mwh|kw|wh|km|cm|mm|m|m2|m²|m3|m³|l|lt|ltr|ml|cl|h|hr|hrs|hours?|std|stunden|min|mins|stk|stück|st|pcs?|pce|szt"
    r"|units?|uds?|unités?|tage?|days?|dagen|nights?|monate?|months?|gb|mb|tb|kb|mbps|x|ha|qm|ea|each)"
)
NOT_MONEY = re.compile(
    "|".join(
        (
            r"[+-]?\d+(?:[.,]\d+)?\s?%|%\s?\d+(?:[.,]\d+)?",
            r"(?<!\d)\d{1,4}([./-])\s?\d{1,2}\1\s?\d{2,4}(?!\d)",
            rf"\b\d{{1,2}}(?:\.|st|nd|rd|th|er|º|°)?[\s-]+(?:de\s+)?{MONTH}[\s,-]+(?:de\s+)?\d{{2,4}}\b",
            rf"\b{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s+\d{{4}}\b",
            r"\b\d{1,2}:\d{2}(?::\d{2})?\b",
            rf"(?<![\w.,])\d+(?:[.,]\d+)?\s?{UNIT}(?![\w²³])",
            r"\S+@\S+|https?://\S+|www\.\S+",
        )
    ),
    re.IGNORECASE,
)
NUMBER = rf"""(?:
    \d{{1,3}}(?:,\d{{2,3}})+(?:\.\d{{1,3}})?            (?![,.]?\d)
  | \d{{1,3}}(?P<group>[.'’{SPACE}])\d{{3}}(?:(?P=group)\d{{3}})*(?:[.,]\d{{1,3}})?  (?![,.]?\d)
  | \d+[.,]\d{{1,6}}                                    (?![,.]?\d)
  | \d+                                                 (?![,.]?\d)
)"""
AMOUNT = re.compile(
    rf"""
    (?P<open>\()?
    (?P<sign1>[{MINUS}])?[{SPACE}]?
    (?P<mark1>{MARK})?[{SPACE}]*:?[{SPACE}]*
    (?P<sign2>[{MINUS}])?[{SPACE}]?
    (?(mark1)|(?:(?<![\w.,/\#])|(?<=[^\W\d_]{{3}})(?=[\d.,{SPACE}]*[.,]\d\d(?!\d))))(?P<number>{NUMBER})
    (?P<dash>[.,:]\s?(?:[{MINUS}—]{{1,2}}|=))?
    (?(mark1)|(?:[{SPACE}]{{0,2}}(?P<mark2>{MARK}))?)
    (?P<close>\))?
    (?P<sign3>[{SPACE}]?[{MINUS}](?![\w{SPACE}]))?
    (?P<credit>[{SPACE}]?CR\b)?
    (?![\w/:]|[{MINUS}]\d)
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class Amount:
    value: Decimal
    start: int
    end: int
    mark: str | None
    # True if the number is certainly an amount of money: it has two decimals, a currency mark, or the form "12,-".
    strong: bool


def blank_out(text: str) -> str:
    """Replaces every number that is not money by NUL characters, so that the offsets of the others stay the same."""
    return NOT_MONEY.sub(lambda m: "\x00" * len(m.group()), text)


def decimal_sign(text: str) -> str | None:
    """Returns the document's decimal sign, by majority of the unambiguous numbers."""
    seen = Counter(m[-3] for m in re.findall(r"(?<![\d.,])\d[\d.,' ]*[.,]\d{2}(?![\d.,%])", blank_out(text)))
    return seen.most_common(1)[0][0] if seen else None


def amounts_in(text: str, decimals: str | None = None) -> list[Amount]:
    """Returns the amounts from left to right. `decimals` is the document's decimal sign, for ambiguous numbers such as 1.234."""
    return [_amount(match, decimals) for match in AMOUNT.finditer(blank_out(text))]


def _amount(match: re.Match, decimals: str | None) -> Amount:
    mark = match["mark1"] or match["mark2"]
    value, places = _value(match["number"], decimals, mark)
    alone = match.group().strip() == match.string.strip()
    # Brackets around a lone amount make it negative. In a sentence, brackets are punctuation.
    bracketed = match["open"] and match["close"] and alone
    if bracketed or match["sign1"] or match["sign2"] or match["sign3"] or match["credit"]:
        value = -value
    if mark and mark.rstrip(".") in SHY and match["number"].isdigit():
        mark = None
    strong = places == 2 or bool(mark) or bool(match["dash"])
    return Amount(value, match.start(), match.end(), mark, strong)


def _value(number: str, decimals: str | None, mark: str | None) -> tuple[Decimal, int]:
    digits = re.sub(rf"['’{SPACE}]", "", number)
    signs = re.findall(r"[.,]", digits)
    if not signs:
        return Decimal(digits), 0
    last, tail = signs[-1], len(digits) - max(digits.rfind("."), digits.rfind(",")) - 1
    grouped = tail == 3 and (len(signs) > 1 or not _three_decimals(digits, last, decimals, mark))
    if len(signs) > 1 and len(set(signs)) == 1 and tail != 3:
        grouped = True  # 1,23,456 or a slip like 1.234.56: the first reading is the commoner one
    if len(set(signs)) == 2:
        grouped = False
    if grouped:
        return Decimal(re.sub(r"[.,]", "", digits)), 0
    whole, fraction = digits[: -tail - 1], digits[-tail:]
    return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}"), tail


def _three_decimals(digits: str, sign: str, decimals: str | None, mark: str | None) -> bool:
    """Returns True if 1.234 is a fraction, not a thousand: if the document's decimal sign is ".", for 0.123 and for Kuwaiti dinars."""
    if digits.startswith("0") or any(code in THREE_DECIMALS for code in currencies_of(mark or "")):
        return True
    return decimals == sign
