from invoice_text import read_invoice

# What an item leaves behind is its result: the text has done its work.
invoice = read_invoice(context.pop("text"))
context["amount"] = invoice.total
context["currency"] = invoice.currency
