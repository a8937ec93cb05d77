# STAGE: TASK
context["record"] = {
    "file": context.get("pdf_name"),
    "sender": context.get("email_from"),
    "subject": context.get("email_subject"),
    "amount": context.get("total_amount"),
    "currency": context.get("currency"),
    "branch": context.get("branch"),
    "notice": context.get("notice"),
}
