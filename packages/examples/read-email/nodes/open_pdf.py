context["pdf"] = base64.b64decode(context["pdf_data_b64"])
context["pdf_bytes"] = len(context["pdf"])
del context["pdf_data_b64"]
