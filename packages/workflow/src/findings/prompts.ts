import type { FindingKind } from "./kind.ts";

/** NOVA421 and 422: what prompt nodes ask for. */
export const promptFindings = {
  NOVA421: {
    severity: "error",
    title: "A setting that the executor does not take",
    why: "`limits` and `ai` are for prompt nodes: code written by hand calls no model.",
    bad: '{ "id": "read", "type": "action", "codeFile": "read.py", "limits": { "max_cost_usd": 0.1 } }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA422: {
    severity: "error",
    title: "An entry of `network.allow` cannot be enforced",
    why: "Each names a host, by name or address, or a range of addresses, and a port or none: `imap.example.com:993`, `10.0.0.7`, `[2001:db8::7]:5432`, `10.0.0.0/8`. Wildcards and paths cannot be told apart when a connection is made, so they are not accepted.",
    bad: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Get the rates.", "network": { "allow": ["*.example.com"] } }',
    good: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Get the rates.", "network": { "allow": ["rates.example.com:443"] } }',
  },
} as const satisfies Record<string, FindingKind>;
