context["said"] = context["greeting"].lower()
