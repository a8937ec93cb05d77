from decimal import Decimal

read = [result for result in context["results"] if "error" not in result]
sums = {}
for result in read:
    currency = result["currency"] or "unknown"
    sums[currency] = sums.get(currency, Decimal(0)) + Decimal(str(result["amount"]))

context["summary"] = {
    "from": context["email_from"],
    "invoices": len(read),
    "sums": {currency: float(total) for currency, total in sums.items()},
    "high": [result["name"] for result in read if result["branch"] == "high"],
    "unreadable": [
        {"name": attachment["name"], "why": result["error"]["message"]}
        for attachment, result in zip(context["attachments"], context["results"])
        if "error" in result
    ],
}
