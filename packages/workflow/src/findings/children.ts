import type { FindingKind } from "./kind.ts";

/** NOVA419 and 420: what nodes ask for that run another workflow. */
export const childFindings = {
  NOVA419: {
    severity: "error",
    title: "A node does not say which workflow it runs",
    why: "`workflow` is the id of a workflow, as its folder is called or its `id` says. `version` is one of its versions, a number; without it the latest one runs.",
    bad: '{ "id": "bill", "type": "workflow", "workflow": "../Billing" }',
    good: '{ "id": "bill", "type": "workflow", "workflow": "billing" }',
  },
  NOVA420: {
    severity: "error",
    title: "It is not clear what a map runs",
    why: "Either nodes of its own, with `nodes` and `edges`, or another workflow for each item, with `workflow` and what belongs to that: `version`, `input`, `output`.",
    bad: '{ "id": "each", "type": "map", "items": "mails", "workflow": "billing", "nodes": [], "edges": [] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "workflow": "billing" }',
  },
} as const satisfies Record<string, FindingKind>;
