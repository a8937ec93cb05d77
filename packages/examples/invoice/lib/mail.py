"""Reads the parts of a mail that the workflow needs."""

from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr


@dataclass(slots=True)
class Pdf:
    name: str
    content: bytes


@dataclass(slots=True)
class Mail:
    sender: str
    subject: str
    id: str
    # Names of all attachments, for the record of the run.
    attachments: list[str]
    pdfs: list[Pdf]

    @property
    def pdf(self) -> bytes | None:
        return self.pdfs[0].content if self.pdfs else None

    @property
    def pdf_name(self) -> str | None:
        return self.pdfs[0].name if self.pdfs else None


def read_mail(raw: bytes) -> Mail:
    if not isinstance(raw, (bytes, bytearray)):
        raise TypeError("mail is not bytes: give the .eml file itself, as in nova run invoice --file mail=message.eml")
    message = message_from_bytes(bytes(raw), policy=policy.default)
    sender = parseaddr(str(message.get("Reply-To") or message.get("From") or ""))[1]
    if not sender:
        raise ValueError("the mail has no sender: its From header is missing or holds no address")
    pdfs = [part for part in message.walk() if _is_pdf(part)]
    return Mail(
        sender=sender,
        subject=str(message.get("Subject") or "(no subject)"),
        id=str(message.get("Message-ID") or ""),
        attachments=[part.get_filename() for part in message.walk() if part.get_filename()],
        pdfs=[Pdf(part.get_filename() or "invoice.pdf", _content(part)) for part in pdfs],
    )


def received_mail(email: dict) -> Mail:
    """Builds a Mail from the value of `email` in the context: a mail that a trigger has already parsed."""
    attachments = email["attachments"]
    return Mail(
        sender=email["from"],
        subject=email["subject"] or "(no subject)",
        id=email["message_id"],
        attachments=[one["name"] for one in attachments],
        pdfs=[Pdf(one["name"], one["bytes"]) for one in attachments if _may_be_pdf(one["type"], one["name"]) and _has_pages(one["bytes"])],
    )


def _is_pdf(part: EmailMessage) -> bool:
    named = _may_be_pdf(part.get_content_type(), part.get_filename() or "")
    return named and not part.is_multipart() and _has_pages(_content(part))


def _may_be_pdf(content_type: str, name: str) -> bool:
    """Returns True if the type or the name allows a PDF. Neither is reliable, so the caller also checks the content."""
    return content_type in ("application/pdf", "application/x-pdf", "application/octet-stream") or name.lower().endswith(".pdf")


def _has_pages(content: bytes) -> bool:
    return b"%PDF-" in content[:1024]


def _content(part: EmailMessage) -> bytes:
    return part.get_payload(decode=True) or b""
