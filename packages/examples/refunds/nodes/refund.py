import os

# A shop would pay here, and give the key to its bank, so that a repeated request pays nothing.
context["payment"] = {"amount": context["amount"], "key": os.environ["NOVA_IDEMPOTENCY_KEY"]}
