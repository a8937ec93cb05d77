from mail import read_mail

message = read_mail(context["mail"])
context["email_from"] = message.sender
context["email_subject"] = message.subject
context["attachments"] = [{"name": pdf.name, "pdf": pdf.content} for pdf in message.pdfs]
