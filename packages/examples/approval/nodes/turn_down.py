answer = context["manager"]
context["outcome"] = "turned down"
context["turned_down"] = {"by": answer["by"], "at": answer["at"], "reason": answer["data"].get("reason")}
