import type { FindingKind } from "./kind.ts";

/** NOVA22x: branches that run side by side. NOVA23x: the nodes of a map. */
export const forkFindings = {
  NOVA220: {
    severity: "error",
    title: "Branches do not meet",
    why: "Several edges without a condition out of one node are branches that run side by side. They join at the first node that all their ways lead to, ways of `onError` included.",
    bad: '["start > a", "start > b", "a > done", "b > rejected"]   # two ends',
    good: '["start > a", "start > b", "a > done", "b > done"]',
  },
  NOVA221: {
    severity: "error",
    title: "A node is in two branches",
    why: "What runs side by side has nodes of its own until the join: a branch is entered from its fork only, and no edge leads from one branch into another.",
    bad: '["start > a", "start > b", "a > send", "b > check", "check > send: true", "check > end: false", "send > end"]',
    good: '["start > a", "start > b", "a > send_a", "b > check", "check > send_b: true", "check > end: false", "send_a > end", "send_b > end"]',
  },
  NOVA222: {
    severity: "error",
    title: "A branch has no node",
    why: "The edge leads straight to where the other branches meet, so nothing would run on it.",
    bad: '["start > a", "start > b", "start > end", "a > end", "b > end"]',
    good: '["start > a", "start > b", "a > end", "b > end"]',
  },
  NOVA223: {
    severity: "error",
    title: "An end inside of a branch",
    why: "An end closes the whole run, and the other branches would still be running. A branch that has nothing more to do leads to the join.",
    bad: '["start > a", "start > check", "check > end: false", "check > b: true", "a > report", "b > report", "report > done"]',
    good: '["start > a", "start > check", "check > report: false", "check > b: true", "a > report", "b > report", "report > done"]',
  },
  NOVA224: {
    severity: "warning",
    title: "Very many branches",
    why: "All of them begin at once, and each needs a sandbox of its own: more than 40 exceed what most plans allow, and then wait for one another.",
    bad: "a node with 60 edges out",
    good: '{ "id": "each", "type": "map", "items": "pages", "max_concurrency": 10, "nodes": [...], "edges": [...] }',
  },
  NOVA225: {
    severity: "warning",
    title: "Two branches set one key",
    why: "The join fails where two branches have set a key to different values, unless the node that fans out says which one counts: `last` (that of the last edge), or `collect` (a list of all).",
    bad: 'context["total"] = 1   # node "a", and node "b" in another branch: context["total"] = 2',
    good: '{ "id": "start", "type": "start", "merge": "last" }   # or two keys: net_total, tax_total',
  },
  NOVA226: {
    severity: "error",
    title: "`merge` on a node without branches",
    why: "It says what becomes of keys that several branches set, so it stands on the node with several edges out. Elsewhere it would be ignored.",
    bad: '{ "id": "read", "type": "action", "codeFile": "read.py", "merge": "last" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA230: {
    severity: "error",
    title: "A map does nothing",
    why: "Its `nodes` are what runs for each item.",
    bad: '{ "id": "each", "type": "map", "items": "mails", "nodes": [], "edges": [] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [] }',
  },
  NOVA231: {
    severity: "error",
    title: "The body of a map has several beginnings",
    why: "An item begins at the one node without an edge in. That node may have several edges out, which are branches.",
    bad: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }, { "id": "rate", "type": "action", "codeFile": "rate.py" }], "edges": [] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }, { "id": "rate", "type": "action", "codeFile": "rate.py" }], "edges": [{ "from": "read", "to": "rate" }] }',
  },
  NOVA232: {
    severity: "error",
    title: "A start inside of a map",
    why: "A run has one start. An item begins at the node of the map that has no edge in.",
    bad: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "s", "type": "start" }, { "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [{ "from": "s", "to": "read" }] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [] }',
  },
  NOVA233: {
    severity: "error",
    title: "A way leads out of a map, or into one",
    why: "The nodes of a map run once for each item, and what follows runs once: edges and `onError` stay among the nodes of one list. An item that is done, or has failed, ends inside; the map's own edges and `onError` go on.",
    bad: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py", "onError": "report" }], "edges": [] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [], "onError": "report" }',
  },
} as const satisfies Record<string, FindingKind>;
