context["outcome"] = "put aside"
