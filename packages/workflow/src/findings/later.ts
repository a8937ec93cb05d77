import type { FindingKind } from "./kind.ts";

/** NOVA9xx: well-formed, but not run by this release. */
export const laterFindings = {
  NOVA904: {
    severity: "error",
    title: "This release does not run prompts yet",
    why: "The executors `prompt` and `text` are reserved for a later release; Python by hand runs.",
    bad: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Read the mail." }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
} as const satisfies Record<string, FindingKind>;
