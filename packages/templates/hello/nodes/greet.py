context["name"] = context.get("name", "world")
context["greeting"] = f"Hello, {context['name']}!"
