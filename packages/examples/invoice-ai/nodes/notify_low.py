from notices import amount_text, send_notice

context["notice"] = send_notice(
    context,
    to=context.get("accounting_to", "accounting@example.com"),
    subject=f"For payment: {amount_text(context)} for {context['pdf_name']}",
    body=f"{context['email_from']} sent {context['pdf_name']} over {amount_text(context)}.\n"
    "Totals up to 1000 are approved without asking.\n",
)
context["branch"] = "low"
