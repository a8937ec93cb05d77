context["outcome"] = "asked" if outputs.get("question") else "put aside"
