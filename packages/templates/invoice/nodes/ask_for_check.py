context["note"] = (
    f"Please check invoice {context['number']} of {context['supplier']}: "
    f"{context['total']} {context['currency']} is above {context.get('limit', 1000)}."
)
