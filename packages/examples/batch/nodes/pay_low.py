context["branch"] = "low"
