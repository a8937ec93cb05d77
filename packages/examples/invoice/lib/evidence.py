"""Ranks the totals by what other amounts confirm: net + tax = gross, a column that adds up, total - paid = due, a repeated sum."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from mentions import WHOLE, Mention

# The largest rounding error of a sum: one cent.
CENT = Decimal("0.011")
# The right edges of the amounts in one column may differ by this number of points.
COLUMN = 6.0
LONGEST_SUM = 40
# The largest tax, as a share of the net amount. A larger amount is no tax.
MOST_TAX = Decimal("0.5")
# The highest score of an amount of zero. A zero usually means that nothing is left to pay, so a zero is the total only
# if the document has no other candidate.
NOTHING_DUE = 27.0

LARGEST, ADDS_UP, NET_AND_TAX, PAID_IN_PART = 6, 12, 25, 30
IS_NET, IS_PART, IS_REST, HAS_OLD_DEBT = -25, -30, -15, -10


@dataclass(slots=True)
class Ranked:
    value: Decimal
    score: float
    label: str
    # Every amount with this value, the one with the clearest words first.
    mentions: list[Mention]

    @property
    def kind(self) -> str:
        return self.mentions[0].label.kind


def rank(mentions: list[Mention]) -> list[Ranked]:
    """Returns every value that words of the document call a total, the likeliest total first."""
    by_value: dict[Decimal, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_value[mention.value].append(mention)
    called = [r for r in (_by_words(value, said) for value, said in by_value.items()) if r.score > 0]
    witnesses = _Witnesses(mentions, called)
    for candidate in called:
        candidate.score += witnesses.speak_for(candidate) if candidate.value else 0
    return sorted(called, key=lambda r: (-r.score, -r.mentions[-1].row))


def _by_words(value: Decimal, said: list[Mention]) -> Ranked:
    best = max(said, key=lambda m: m.score)
    others = [m for m in said if m is not best]
    again = sum(m.label.kind in WHOLE for m in others)
    score = best.score + min(again, 3) * 4 + (3 if any(m.mark for m in said) else 0)
    return Ranked(value, score if value else min(score, NOTHING_DUE), best.label.text, [best, *others])


class _Witnesses:
    """Scores a candidate by the other amounts of the document."""

    def __init__(self, mentions: list[Mention], called: list[Ranked]) -> None:
        self.mentions, self.called = mentions, called

    def speak_for(self, candidate: Ranked) -> float:
        value, kind = candidate.value, candidate.kind
        score = LARGEST if abs(value) == self.largest else 0
        score += NET_AND_TAX if self.is_net_plus_tax(value) else 0
        score += IS_NET if self.is_net_of_another(value) else 0
        score += ADDS_UP if any(id(m) in self.sums for m in candidate.mentions) else 0
        score += IS_PART if self.leads_to_another(candidate) else 0
        score += PAID_IN_PART if kind != "paid" and self.is_paid_in_part(value) else 0
        if kind == "due":
            score += IS_REST if self.is_rest(value) else 0
            score += HAS_OLD_DEBT if self.has_old_debt(value) else 0
        return score

    def is_net_plus_tax(self, value: Decimal) -> bool:
        nets = self.of_kind("net") | {r.value for r in self.called}
        return any(_close(net + tax, value) for net in nets - {value} for tax in self.taxes if _is_tax_of(tax, net))

    def is_net_of_another(self, value: Decimal) -> bool:
        wholes = [r.value for r in self.called if r.value != value and r.kind in (*WHOLE, "amount")]
        return any(_close(value + tax, whole) for tax in self.taxes if _is_tax_of(tax, value) for whole in wholes)

    def leads_to_another(self, candidate: Ranked) -> bool:
        """Returns True if another total is the sum of this candidate and of discounts, freight or tax. Payments do not
        count, because a total minus a payment is only the amount due."""
        mine = {id(m) for m in candidate.mentions}
        for total, parts in self.sums_of_totals:
            if total.value == candidate.value:
                continue
            between = [p for p in parts if id(p) not in mine]
            if 0 < len(between) < len(parts) and all(p.label.kind in ("tax", "other", "net") for p in between):
                return True
        return False

    def is_paid_in_part(self, value: Decimal) -> bool:
        """Returns True if the value minus a payment is the amount due. The value is then the total of the invoice."""
        dues = {r.value for r in self.called if r.kind == "due"} | {
            m.value for m in self.mentions if m.label.kind == "due"
        }
        return any(_close(abs(value) - part, due) for due in dues - {value} for part in self.payments)

    def is_rest(self, value: Decimal) -> bool:
        return any(_close(whole - part, value) for whole in self.totals - {value} for part in self.payments)

    def has_old_debt(self, value: Decimal) -> bool:
        return any(_close(value - old, whole) for old in self.of_kind("previous") for whole in self.totals - {value})

    def of_kind(self, kind: str) -> set[Decimal]:
        return {m.value for m in self.mentions if m.label.kind == kind and m.value}

    @cached_property
    def taxes(self) -> set[Decimal]:
        """Returns every tax, and the sum of all taxes, because an invoice with two tax rates prints two taxes."""
        taxes = self.of_kind("tax")
        return taxes | {sum(taxes, Decimal(0))}

    @cached_property
    def payments(self) -> set[Decimal]:
        return {abs(value) for value in self.of_kind("paid")}

    @cached_property
    def totals(self) -> set[Decimal]:
        return {r.value for r in self.called if r.kind in ("gross", "total")}

    @cached_property
    def largest(self) -> Decimal:
        return max((abs(m.value) for m in self.mentions if m.strong or m.label.kind in WHOLE), default=Decimal(0))

    @cached_property
    def sums(self) -> dict[int, list[Mention]]:
        """Finds each mention that is the sum of the amounts directly above it in its column. Returns these amounts by the `id` of the mention."""
        columns: list[tuple[int, float, list[Mention]]] = []
        found = {}
        for mention in self.mentions:
            beside = (c for page, x1, c in columns if page == mention.page and abs(x1 - mention.x1) < COLUMN)
            column = next(beside, None)
            if column is None:
                columns.append((mention.page, mention.x1, column := []))
            if parts := _parts(column, mention.value):
                found[id(mention)] = parts
            if mention.strong:
                column.append(mention)
        return found

    @cached_property
    def sums_of_totals(self) -> list[tuple[Mention, list[Mention]]]:
        wholes = [m for m in self.mentions if m.label.kind in WHOLE and m.value]
        return [(m, self.sums[id(m)]) for m in wholes if id(m) in self.sums]


def _parts(column: list[Mention], value: Decimal) -> list[Mention]:
    """Returns the amounts at the end of a column, at least two, whose sum is the value; an empty list if there are none."""
    running, parts = Decimal(0), []
    for part in reversed(column[-LONGEST_SUM:]):
        running += part.value
        parts.append(part)
        if len(parts) >= 2 and _close(running, value) and part.value != value:
            return parts
    return []


def _is_tax_of(tax: Decimal, net: Decimal) -> bool:
    return tax != 0 and abs(tax) <= abs(net) * MOST_TAX


def _close(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) < CENT
