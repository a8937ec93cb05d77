# `ask` has the answer. Purchases up to the limit have none.
answer = context.get("ask") or {"by": "the limit", "data": {}}
context["order"] = {
    "item": context["item"],
    "price": context["price"],
    "approved_by": answer["by"],
    "cost_center": (answer.get("data") or {}).get("cost_center"),
}
