# STAGE: TASK
context["branch_decision"] = bool(context["has_pdf"])
