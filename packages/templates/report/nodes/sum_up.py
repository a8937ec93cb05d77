from decimal import Decimal

region = context["region"]
context["name"] = region["name"]
context["total"] = str(sum(map(Decimal, region["amounts"]), Decimal("0.00")))
