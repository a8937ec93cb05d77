"""What the workflow needs of a mail."""

from __future__ import annotations

from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr


@dataclass(slots=True)
class Mail:
    sender: str
    subject: str
    id: str
    attachments: list[str]
    """Names, for the record; only the first PDF is processed."""
    pdf: bytes | None
    pdf_name: str | None


def read_mail(raw: bytes) -> Mail:
    if not isinstance(raw, (bytes, bytearray)):
        raise TypeError("mail is not bytes: give the .eml file itself, as in nova run invoice --file mail=message.eml")
    message = message_from_bytes(bytes(raw), policy=policy.default)
    sender = parseaddr(str(message.get("Reply-To") or message.get("From") or ""))[1]
    if not sender:
        raise ValueError("the mail has no sender: its From header is missing or holds no address")
    pdf = next((part for part in message.walk() if _is_pdf(part)), None)
    return Mail(
        sender=sender,
        subject=str(message.get("Subject") or "(no subject)"),
        id=str(message.get("Message-ID") or ""),
        attachments=[part.get_filename() for part in message.walk() if part.get_filename()],
        pdf=pdf and _content(pdf),
        pdf_name=pdf and (pdf.get_filename() or "invoice.pdf"),
    )


def _is_pdf(part: EmailMessage) -> bool:
    """By what is inside: mail programs send PDFs as octet-stream, and other files under the name of one."""
    named = part.get_content_type() in ("application/pdf", "application/x-pdf", "application/octet-stream")
    named = named or (part.get_filename() or "").lower().endswith(".pdf")
    return named and not part.is_multipart() and b"%PDF-" in _content(part)[:1024]


def _content(part: EmailMessage) -> bytes:
    return part.get_payload(decode=True) or b""
