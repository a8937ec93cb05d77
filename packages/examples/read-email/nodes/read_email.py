import base64
import imaplib
import ssl
from email import message_from_bytes, policy
from email.utils import parseaddr


def connect(host, port):
    tls = ssl.create_default_context()
    if port == 993:
        return imaplib.IMAP4_SSL(host, port, ssl_context=tls, timeout=20)
    mailbox = imaplib.IMAP4(host, port, timeout=20)
    # The connection to another machine must be encrypted, because the password goes over it.
    if not host.startswith("127."):
        mailbox.starttls(tls)
    return mailbox


def read(message):
    context["email_from"] = parseaddr(str(message["From"] or ""))[1]
    context["email_subject"] = str(message["Subject"] or "")
    body = message.get_body(("plain", "html"))
    context["email_body"] = body.get_content() if body else ""
    for part in message.iter_attachments():
        if (part.get_filename() or "").lower().endswith(".pdf"):
            context["has_pdf"] = True
            context["pdf_name"] = part.get_filename()
            context["pdf_data_b64"] = base64.b64encode(part.get_payload(decode=True)).decode()
            break


context["has_pdf"] = False
mailbox = connect(context["imap_host"], context["imap_port"])
try:
    mailbox.login(context["email_user"], context["email_password"])
    mailbox.select("INBOX")
    unread = mailbox.search(None, "UNSEEN")[1][0].split()
    context["has_emails"] = bool(unread)
    if unread:
        # PEEK leaves the mail unread. It is marked as read only after its contents were taken over.
        parts = mailbox.fetch(unread[0], "(BODY.PEEK[])")[1]
        read(message_from_bytes(parts[0][1], policy=policy.default))
        mailbox.store(unread[0], "+FLAGS", "\\Seen")
finally:
    mailbox.logout()
