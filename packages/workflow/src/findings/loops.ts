import type { FindingKind } from "./kind.ts";

/** NOVA24x: edges that lead back. */
export const loopFindings = {
  NOVA240: {
    severity: "error",
    title: "A loop without a decision",
    why: "Whether a run goes round again is decided each time: an edge with `max` leaves a decision or an approval.",
    bad: '["start > ask", "ask > check", "check > ask: max 3"]   # check is an action',
    good: '["start > ask", "ask > check", "check > ask: again, max 3", "check > end: default"]   # check is a decision',
  },
  NOVA241: {
    severity: "error",
    title: "`max` on an edge that does not lead back",
    why: "It counts how often a run goes round, so ways lead from the node behind the edge to the decision again: the edge itself leads back to an earlier node, or it leads into a detour that does (ask, wait a day, ask again).",
    bad: '{ "from": "check", "to": "report", "condition": true, "max": 3 }',
    good: '["check > report: true", "check > wait_a_day: again, max 3", "wait_a_day > check", "check > end: default"]',
  },
  NOVA242: {
    severity: "error",
    title: "A loop leads into a branch or out of it",
    why: "What runs side by side is entered from its fork and left to its join. A loop stays inside of one branch, or goes round the whole fork.",
    bad: '["start > f", "f > a", "f > b", "a > join", "b > join", "join > check", "check > a: again, max 3", "check > end: default"]',
    good: '["start > f", "f > a", "f > b", "a > join", "b > join", "join > check", "check > f: again, max 3", "check > end: default"]',
  },
  NOVA243: {
    severity: "error",
    title: "`max` on the default edge",
    why: '`"default"` is where a run goes on that has gone round often enough, so it leads on.',
    bad: '{ "from": "check", "to": "ask", "condition": "default", "max": 3 }',
    good: '{ "from": "check", "to": "ask", "condition": "again", "max": 3 }',
  },
  NOVA244: {
    severity: "error",
    title: "A decision that only leads back",
    why: "All of its edges have a `max`, so a run could not come to an end behind it.",
    bad: '[{ "from": "check", "to": "ask", "condition": "again", "max": 3 }]',
    good: '[{ "from": "check", "to": "ask", "condition": "again", "max": 3 }, { "from": "check", "to": "end", "condition": "default" }]',
  },
  NOVA245: {
    severity: "error",
    title: "A loop out of an approval without a default edge",
    why: "When the answer that leads back has been given `max` times, the run has to go on somewhere: nobody could answer otherwise.",
    bad: '[{ "from": "ask", "to": "write", "condition": "rejected", "max": 3 }, { "from": "ask", "to": "send", "condition": "approved" }]',
    good: '[{ "from": "ask", "to": "write", "condition": "rejected", "max": 3 }, { "from": "ask", "to": "send", "condition": "approved" }, { "from": "ask", "to": "give_up", "condition": "default" }]',
  },
} as const satisfies Record<string, FindingKind>;
