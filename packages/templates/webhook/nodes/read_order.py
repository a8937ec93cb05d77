order = context.get("webhook.body", {})
for field in ("order", "lines"):
    if field not in order:
        raise ValueError(f'the order has no "{field}" - send it in the body of the request')
context["order"] = order["order"]
context["lines"] = order["lines"]
