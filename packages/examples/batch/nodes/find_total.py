from invoice_text import read_invoice

# Takes the text out of the context: the keys that remain are the result of the item.
invoice = read_invoice(context.pop("text"))
context["amount"] = invoice.total
context["currency"] = invoice.currency
