import type { FindingKind } from "./kind.ts";

/** NOVA9xx: well-formed, but not run by this release. */
export const laterFindings = {
  NOVA904: {
    severity: "error",
    title: "This release does not run the executor `text`",
    why: "It is reserved for a later release. With `prompt` a model writes Python, which may return a text just as well.",
    bad: '{ "id": "read", "type": "action", "executor": "text", "prompt": "Sum up the mail." }',
    good: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Sum up the mail." }',
  },
} as const satisfies Record<string, FindingKind>;
