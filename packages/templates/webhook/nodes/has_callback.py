context["branch_decision"] = bool(context.get("webhook.body.callback"))
