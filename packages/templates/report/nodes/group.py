groups = {}
for sale in context["sales"]:
    groups.setdefault(sale["region"], []).append(sale["amount"])
context["regions"] = [{"name": name, "amounts": amounts} for name, amounts in sorted(groups.items())]
