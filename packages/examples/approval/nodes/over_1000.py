context["branch_decision"] = context["total"] > 1000
