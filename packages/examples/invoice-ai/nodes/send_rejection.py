from notices import send_notice

context["notice"] = send_notice(
    context,
    to=context["email_from"],
    subject=f"Re: {context['email_subject']}",
    body="Your mail has no PDF attached, so it could not be processed.\n"
    "Please send the invoice again as a PDF attachment.\n",
    answers=context["email_id"],
)
context["branch"] = "rejected"
