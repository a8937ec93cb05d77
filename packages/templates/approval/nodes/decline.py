answer = context.get("ask") or {}
reason = (answer.get("data") or {}).get("reason", "nobody answered in time" if not answer.get("by") else "no reason given")
context["declined"] = {"item": context["item"], "by": answer.get("by"), "reason": reason}
