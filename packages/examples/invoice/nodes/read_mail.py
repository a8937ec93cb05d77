from mail import read_mail, received_mail

message = read_mail(context["mail"]) if "mail" in context else received_mail(context["email"])
context["email_from"] = message.sender
context["email_subject"] = message.subject
context["email_id"] = message.id
context["attachments"] = message.attachments
context["has_pdf"] = message.pdf is not None
if message.pdf is not None:
    context["pdf_name"] = message.pdf_name
    context["pdf"] = message.pdf
