context["payment"] = {
    "supplier": context["supplier"],
    "number": context["number"],
    "total": context["total"],
    "currency": context["currency"],
}
context["outcome"] = "paid"
