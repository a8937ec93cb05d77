answer = context.get("manager") or {"by": "the rule for totals up to 1000", "data": {}}
context["payment"] = {
    "supplier": context["supplier"],
    "number": context["number"],
    "total": context["total"],
    "currency": context["currency"],
    "cost_center": answer["data"].get("cost_center"),
    "approved_by": answer["by"],
}
context["outcome"] = "paid"
