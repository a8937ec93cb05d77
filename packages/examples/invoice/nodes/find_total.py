from totals import find_total

total = find_total(context["pdf_words"])
if total is None:
    raise ValueError(
        f"{context['pdf_name']}: no amount stands beside words like total, amount due or Gesamtbetrag; "
        "look at ocr_text, and if it is an invoice add its words to lib/lexicon.py"
    )
context["total_amount"] = total.amount
context["currency"] = total.currency
context["total_label"] = total.label
