from invoice_text import read_invoice

invoice = read_invoice(context["invoice"].decode())
context["supplier"] = invoice.supplier
context["number"] = invoice.number
context["currency"] = invoice.currency
context["total"] = invoice.total
context["total_text"] = invoice.total_text
