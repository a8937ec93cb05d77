from invoice_text import find_currency, find_number, find_total

text = context["text"]
context["supplier"] = text.strip().splitlines()[0]
context["number"] = find_number(text)
context["currency"] = find_currency(text)
# A text keeps every digit of an amount.
context["total"] = str(find_total(text))
