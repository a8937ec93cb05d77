context["said"] = context["greeting"].upper()
