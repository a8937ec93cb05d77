# STAGE: TASK
import email
from email import policy
from email.utils import parseaddr

message = email.message_from_bytes(context["mail"], policy=policy.default)

context["email_from"] = parseaddr(str(message.get("From", "")))[1]
context["email_subject"] = str(message.get("Subject", ""))
context["email_id"] = str(message.get("Message-ID", ""))

attachments = []
first_pdf = None
for part in message.walk():
    name = part.get_filename()
    if part.is_multipart() or not (name or part.get_content_disposition() == "attachment"):
        continue
    is_pdf = part.get_content_type() == "application/pdf" or (name or "").lower().endswith(".pdf")
    attachments.append(name or "unnamed")
    if is_pdf and first_pdf is None:
        first_pdf = (name or "attachment.pdf", part.get_payload(decode=True) or b"")

context["attachments"] = attachments
context["has_pdf"] = first_pdf is not None
if first_pdf is not None:
    context["pdf_name"], context["pdf"] = first_pdf
