# STAGE: TASK
context["branch_decision"] = context["total_amount"] > 1000
