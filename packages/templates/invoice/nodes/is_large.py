from decimal import Decimal

context["branch_decision"] = Decimal(context["total"]) > Decimal(str(context.get("limit", 1000)))
