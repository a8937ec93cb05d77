import type { FindingKind } from "./kind.ts";

/** NOVA8xx: the code that models wrote, as locked beside the workflow. NOVA9xx: well-formed, but not run by this release. */
export const lockedFindings = {
  NOVA801: {
    severity: "error",
    title: "The lock file cannot be read",
    why: "`workflow.lock.json` says which code runs in prompt nodes. It is written by `nova lock`, and nobody guesses what a damaged one meant. After a merge take the file of one side, or remove it and lock again.",
    bad: '<<<<<<< HEAD\n  "key": "7c1f..."',
    good: "git checkout --theirs workflow.lock.json generated && nova lock invoices/",
  },
  NOVA802: {
    severity: "error",
    title: "The file of locked code is missing",
    why: "The lock file has an entry for the node; its code lies in `generated/<node>.py` and belongs into version control with it. Without it a model would have to write the code again.",
    bad: "git add workflow.lock.json",
    good: "git add workflow.lock.json generated",
  },
  NOVA803: {
    severity: "error",
    title: "Locked code was edited by hand",
    why: "What is in the file is not the code that was proven and approved, so it does not run before somebody says that it shall: `nova lock` takes the edit as the new locked code. `nova lock <folder> --prove 5` shows first what it changes. Other line ends are no edit.",
    bad: "vi generated/find_total.py && nova run invoices/",
    good: "vi generated/find_total.py && nova lock invoices/ && nova run invoices/",
  },
  NOVA804: {
    severity: "warning",
    title: "Locked code of a node that is none",
    why: "The node was removed or renamed, or its code is written by hand now. `nova lock` removes the entry and its file.",
    bad: '"nodes": { "find_totl": { "key": "7c1f...", ... } }',
    good: '"nodes": { "find_total": { "key": "7c1f...", ... } }',
  },
  NOVA805: {
    severity: "error",
    title: "Locked code that nobody has approved",
    why: 'A workflow with `"approval": "required"` runs only code that a person has looked at. Other code than the one approved has to be approved again.',
    bad: "nova lock invoices/ && nova run invoices/",
    good: "nova lock invoices/ && nova lock approve invoices/ find_total && nova run invoices/",
  },
  NOVA904: {
    severity: "error",
    title: "This release does not run the executor `text`",
    why: "It is reserved for a later release. With `prompt` a model writes Python, which may return a text just as well.",
    bad: '{ "id": "read", "type": "action", "executor": "text", "prompt": "Sum up the mail." }',
    good: '{ "id": "read", "type": "action", "executor": "prompt", "prompt": "Sum up the mail." }',
  },
} as const satisfies Record<string, FindingKind>;
