from invoice_text import read_invoice

# The remaining keys are the item's result: the text is no longer needed.
invoice = read_invoice(context.pop("text"))
context["amount"] = invoice.total
context["currency"] = invoice.currency
