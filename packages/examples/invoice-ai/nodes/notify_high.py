from notices import amount_text, send_notice

context["notice"] = send_notice(
    context,
    to=context.get("approvals_to", "approvals@example.com"),
    subject=f"Approval needed: {amount_text(context)} for {context['pdf_name']}",
    body=f"{context['email_from']} sent {context['pdf_name']} over {amount_text(context)}.\n"
    f"Totals above 1000 need approval (the invoice says: {context['total_label']}).\n",
)
context["branch"] = "high"
