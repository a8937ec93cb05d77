from email import message_from_bytes, policy

message = message_from_bytes(context["mail"], policy=policy.default)
context["email_from"] = message["From"].addresses[0].addr_spec
context["attachments"] = [
    {"name": part.get_filename(), "pdf": part.get_payload(decode=True)}
    for part in message.walk()
    if (part.get_filename() or "").lower().endswith(".pdf")
]
