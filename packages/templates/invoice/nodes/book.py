context["booking"] = {
    "account": "purchases",
    "supplier": context["supplier"],
    "invoice": context["number"],
    "amount": context["total"],
    "currency": context["currency"],
}
