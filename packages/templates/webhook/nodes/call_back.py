import os
from urllib.request import Request, urlopen

answer = {"order": context["order"], "total": context["total"]}
request = Request(
    context.get("webhook.body.callback"),
    data=json.dumps(answer).encode(),
    # The shop gets the same key again if this step is repeated, so it can ignore the repetition.
    headers={"content-type": "application/json", "idempotency-key": os.environ["NOVA_RESTART_KEY"]},
)
with urlopen(request, timeout=10) as response:
    context["called_back"] = response.status
