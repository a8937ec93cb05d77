from decimal import Decimal

rows = [f"| {one['name']} | {one['total']} |" for one in context["sums"]]
total = sum((Decimal(one["total"]) for one in context["sums"]), Decimal("0.00"))
context["total"] = str(total)
context["report"] = "\n".join(["| region | sales |", "|---|---:|", *rows, f"| all | {total} |"])
