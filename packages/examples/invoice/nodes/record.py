context["record"] = {
    "file": context.get("pdf_name"),
    "sender": context["email_from"],
    "subject": context["email_subject"],
    "amount": context.get("total_amount"),
    "currency": context.get("currency"),
    "branch": context["branch"],
    "notice": context["notice"],
}
if "db_host" in context:
    from books import book

    context["booked_as"] = book(context, context["record"])
