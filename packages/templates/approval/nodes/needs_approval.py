context["branch_decision"] = context["price"] > context.get("limit", 500)
