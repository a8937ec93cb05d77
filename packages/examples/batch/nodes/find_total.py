from totals import find_total

# What an item leaves behind is its result: the words have done their work.
total = find_total(context.pop("words"))
if total is None:
    raise ValueError(f"{context['name']}: no amount stands beside words like total, amount due or Gesamtbetrag")
context["amount"] = total.amount
context["currency"] = total.currency
