context["branch"] = "high"
