"""Classifies the words beside an amount: gross total, due, plain total, net, tax, paid or something else.

Words are compared without accents, case and punctuation: "T.V.A." is `tva`, "Należność ogółem:" is `naleznosc ogolem`.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import lexicon

# How likely an amount of each kind is the gross total. On an invoice without tax, the net amount is the total. On a
# receipt, the amount paid is the total.
SCORES = {"gross": 100, "due": 88, "total": 70, "incl": 60, "amount": 40, "paid": 28, "net": 22}

# The largest number of words of a label. Of a longer text, only the words nearest to the amount count.
LABEL_WORDS = 14
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
# Matches the end of a sentence. A dot after a short word may belong to an abbreviation, so it does not match.
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{5})[.;!?]\s+(?=[^\W\d_])")
_CURRENCIES = re.compile(r"(?<!\w)(?:eur|euros?|usd|gbp|chf|inr|pln|sek|dkk|nok|rs|kr|zl|kc|cad|aud|czk|huf|ron)(?!\w)")


@dataclass(slots=True, frozen=True)
class Label:
    kind: str
    text: str

    @property
    def score(self) -> int:
        return SCORES.get(self.kind, 0)


NONE = Label("none", "")


def fold(text: str) -> str:
    """Removes case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(c for c in folded if not unicodedata.category(c).startswith("M"))


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Removes case, accents, digits, currencies and punctuation, and joins single letters with dots between them."""
    joined = re.sub(r"\b(\w)\.\s?(?=\w\b)", r"\1", fold(text))
    return _CURRENCIES.sub(" ", re.sub(r"[\W\d_]+", " ", joined)).strip()


def _words(pattern: str) -> re.Pattern:
    compact = re.sub(r"\s*\|\s*", "|", " ".join(fold(pattern).split()))
    return re.compile(rf"(?<!\w)(?:{compact})(?!\w)")


_GROSS, _DUE, _TOTAL, _AMOUNT = map(_words, (lexicon.GROSS, lexicon.DUE, lexicon.TOTAL, lexicon.AMOUNT))
_NET, _TAX, _OTHER, _COUNT = map(_words, (lexicon.NET, lexicon.TAX, lexicon.OTHER, lexicon.COUNT))
_PREVIOUS, _PAID, _INCL, _EXCL = map(_words, (lexicon.PREVIOUS, lexicon.PAID, lexicon.INCL, lexicon.EXCL))
_WITHIN, _ADDED, _DUE_FIRST, _ITEM_HEAD = map(
    _words, (lexicon.WITHIN, lexicon.ADDED, lexicon.DUE_FIRST, lexicon.ITEM_HEAD)
)
_THROUGH = _words("after | nach | apres | dopo | efter | including | incl | inkl | po")


@lru_cache(maxsize=8192)
def classify(text: str) -> Label:
    """Returns the kind of a label; "none" if its words do not describe sums."""
    words = " ".join(plain(_SENTENCE_END.split(text)[-1]).split()[-LABEL_WORDS:])
    return Label(_kind(words), words) if words else NONE


def heads_items(text: str) -> bool:
    """Returns True for the head of a table of goods. The columns under it contain the prices of goods, not totals."""
    return len(_ITEM_HEAD.findall(plain(text))) >= 2


def _kind(words: str) -> str:
    included = _INCL.search(words)
    whole = _GROSS.search(words) or _TOTAL.search(words)
    if _WITHIN.search(words) and not (whole and included and whole.start() < included.start()):
        return "tax"
    if _PREVIOUS.search(words):
        return "previous"
    if _DUE_FIRST.search(words):
        return "due"
    if _NET.search(words):
        return "net"
    if _is_other(words):
        return "other"
    if _DUE.search(words):
        return "tax" if _TAX.search(words) and not (included or whole) else "due"
    if _PAID.search(words) and not _GROSS.search(words):
        return "paid"
    return _kind_of_total(words, bool(included)) if whole else _kind_of_amount(words, bool(included))


def _is_other(words: str) -> bool:
    """Returns True for discounts, freight and the like, except in "total after discount"."""
    other, through = _OTHER.search(words), _THROUGH.search(words)
    return bool(other) and not (through and through.start() < other.start())


def _kind_of_total(words: str, included: bool) -> str:
    if included:
        return "gross"
    if _EXCL.search(words):
        return "net"
    if _TAX.search(words):
        return "tax"
    if _COUNT.search(words):
        return "count"
    return "gross" if _GROSS.search(words) else "total"


def _kind_of_amount(words: str, included: bool) -> str:
    if included:
        return "incl"
    if _TAX.search(words):
        return "net" if _EXCL.search(words) and not _ADDED.search(words) else "tax"
    if _EXCL.search(words):
        return "net"
    return "amount" if _AMOUNT.search(words) else "none"
