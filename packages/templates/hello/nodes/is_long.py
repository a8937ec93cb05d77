context["branch_decision"] = len(context["name"]) > 5
