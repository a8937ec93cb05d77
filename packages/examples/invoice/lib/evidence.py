"""Amounts testify for one another: net + tax = gross, a column that adds up, total - paid = due, the same sum said twice."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from mentions import WHOLE, Mention

CENT = Decimal("0.011")
COLUMN = 6.0  # points by which right edges of one column may differ
LONGEST_SUM = 40


@dataclass(slots=True)
class Ranked:
    value: Decimal
    score: float
    label: str
    mentions: list[Mention]


def rank(mentions: list[Mention]) -> list[Ranked]:
    """Every value that some word calls a total, the best first."""
    by_value: dict[Decimal, list[Mention]] = {}
    for mention in mentions:
        by_value.setdefault(mention.value, []).append(mention)
    ranked = [_ranked(value, said) for value, said in by_value.items()]
    ranked = [r for r in ranked if r.score > 0]
    for candidate in ranked:
        candidate.score += _testimony(candidate, mentions, ranked)
    return sorted(ranked, key=lambda r: (-r.score, -r.mentions[-1].row))


def _ranked(value: Decimal, said: list[Mention]) -> Ranked:
    best = max(said, key=lambda m: m.score)
    again = sum(1 for m in said if m is not best and m.label.kind in WHOLE)
    score = best.score + min(again, 3) * 4
    score += 3 if any(m.mark for m in said) else 0
    score -= 70 if value == 0 and score > 0 else 0
    return Ranked(value, score, best.label.text, [best] + [m for m in said if m is not best])


def _testimony(candidate: Ranked, mentions: list[Mention], ranked: list[Ranked]) -> float:
    value, kind = candidate.value, candidate.mentions[0].label.kind
    if value == 0:
        return 0
    taxes, nets = _values(mentions, "tax"), _values(mentions, "net")
    largest = max(abs(m.value) for m in mentions if m.strong or m.label.kind in WHOLE)
    score = 6.0 if abs(value) == largest else 0.0
    if _is_net_plus_tax(value, taxes, nets | {r.value for r in ranked}):
        score += 25
    if kind in ("total", "incl", "amount", "net", "due") and _is_net_of(value, taxes, ranked):
        score -= 25
    if any(_column_adds_up(m, mentions) for m in candidate.mentions):
        score += 12
    if kind != "due" and _paid_in_part(candidate, mentions, ranked):
        score += 25
    if kind == "due" and _carries_old_balance(candidate, mentions, ranked):
        score -= 10
    return score


def _values(mentions: list[Mention], kind: str) -> set[Decimal]:
    return {m.value for m in mentions if m.label.kind == kind and m.value}


def _close(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) < CENT


def _is_net_plus_tax(value: Decimal, taxes: set[Decimal], nets: set[Decimal]) -> bool:
    wholes = taxes | ({sum(taxes)} if len(taxes) > 1 else set())
    return any(_close(net + tax, value) for net in nets if net != value for tax in wholes if abs(tax) <= abs(net) / 2)


def _is_net_of(value: Decimal, taxes: set[Decimal], ranked: list[Ranked]) -> bool:
    """Whether tax on top of this value makes another candidate: then this one is the net."""
    wholes = taxes | ({sum(taxes)} if len(taxes) > 1 else set())
    others = [r.value for r in ranked if r.value != value and r.mentions[0].label.kind in (*WHOLE, "amount")]
    return any(_close(value + tax, other) for tax in wholes for other in others if abs(tax) <= abs(value) / 2)


def _column_adds_up(mention: Mention, mentions: list[Mention]) -> bool:
    """The two or more amounts directly above in its column sum up to it."""
    above = [
        m
        for m in mentions
        if m.page == mention.page and m.row < mention.row and abs(m.x1 - mention.x1) < COLUMN and m.strong
    ]
    running, count = Decimal(0), 0
    for part in reversed(above[-LONGEST_SUM:]):
        running, count = running + part.value, count + 1
        if count >= 2 and _close(running, mention.value) and part.value != mention.value:
            return True
    return False


def _paid_in_part(candidate: Ranked, mentions: list[Mention], ranked: list[Ranked]) -> bool:
    """Total - already paid = due: the total is the invoice's, the rest is only what is left of it."""
    dues = [r.value for r in ranked if r.value != candidate.value and r.mentions[0].label.kind == "due"]
    dues += [Decimal(0)] if any(m.value == 0 and m.label.kind == "due" for m in mentions) else []
    paid = {abs(m.value) for m in mentions if m.label.kind in ("paid", "other")}
    return any(_close(abs(candidate.value) - part, due) for due in dues for part in paid if part)


def _carries_old_balance(candidate: Ranked, mentions: list[Mention], ranked: list[Ranked]) -> bool:
    old = _values(mentions, "previous")
    others = [r.value for r in ranked if r.value != candidate.value and r.mentions[0].label.kind in ("gross", "total")]
    return any(_close(candidate.value - part, other) for part in old for other in others)
