from invoice_text import read_invoice

text = context["invoice"].decode()
invoice = read_invoice(text)
context["text"] = text
context["supplier"] = invoice.supplier
context["number"] = invoice.number
context["currency"] = invoice.currency
context["total"] = invoice.total
context["total_text"] = invoice.total_text
