from decimal import Decimal

total = sum((Decimal(line["price"]) * line["pieces"] for line in context["lines"]), Decimal("0.00"))
# A text keeps every digit of an amount.
context["total"] = str(total)
