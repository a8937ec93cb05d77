context["branch_decision"] = context["amount"] > 1000
