orders = context["orders"]
number = context["number"]
if number not in orders:
    raise LookupError(f"there is no order {number}")
context["order"] = orders[number]
