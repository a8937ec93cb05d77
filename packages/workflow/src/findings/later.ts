import type { FindingKind } from "./kind.ts";

/** NOVA9xx: well-formed, but not run by this release. */
export const laterFindings = {
  NOVA901: {
    severity: "error",
    title: "This release does not run nodes of that type yet",
    why: "`parallel`, `map`, `approval`, `wait` and `workflow` are reserved for later releases.",
    bad: '{ "id": "pause", "type": "wait" }',
    good: '{ "id": "pause", "type": "action", "code": "import time\\ntime.sleep(30)" }',
  },
  NOVA902: {
    severity: "error",
    title: "This release does not run branches side by side yet",
    why: "Several edges without a condition leave one node. Put the nodes in a row; a decision chooses one of several.",
    bad: '[{ "from": "start", "to": "a" }, { "from": "start", "to": "b" }]',
    good: '[{ "from": "start", "to": "a" }, { "from": "a", "to": "b" }]',
  },
  NOVA903: {
    severity: "error",
    title: "This release does not run loops yet",
    why: "`max` on an edge, the number of times it may be taken, is reserved for a later release.",
    bad: '{ "from": "check", "to": "ask", "condition": false, "max": 3 }',
    good: '{ "from": "check", "to": "give_up", "condition": false }',
  },
  NOVA904: {
    severity: "error",
    title: "This release does not run prompts yet",
    why: "The executors `prompt` and `text` are reserved for a later release; Python by hand runs.",
    bad: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Read the mail." }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
} as const satisfies Record<string, FindingKind>;
