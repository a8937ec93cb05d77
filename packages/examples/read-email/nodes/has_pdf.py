context["branch_decision"] = context["has_pdf"]
