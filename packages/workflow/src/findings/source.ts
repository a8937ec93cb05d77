import type { FindingKind } from "./kind.ts";

/** NOVA1xx: the file, its JSON and its fields. */
export const sourceFindings = {
  NOVA101: {
    severity: "error",
    title: "There is no workflow here",
    why: "A workflow is a folder with a `workflow.json`, or one JSON file. The path names neither, or it cannot be read.",
    bad: "nova run invoices/            # the folder holds flow.json",
    good: "nova run invoices/flow.json   # or rename it to workflow.json",
  },
  NOVA102: {
    severity: "error",
    title: "The file is not JSON",
    why: "The place is where reading stopped, which may be a little behind the mistake: often a comma too many, a missing quote or a comment.",
    bad: '{ "nodes": [], }',
    good: '{ "nodes": [] }',
  },
  NOVA103: {
    severity: "error",
    title: "The JSON is not a workflow",
    why: "A workflow is an object with the lists `nodes` and `edges`, at the top or (the older form) inside of `graph_definition`.",
    bad: '[{ "id": "start", "type": "start" }]',
    good: '{ "nodes": [{ "id": "start", "type": "start" }], "edges": [] }',
  },
  NOVA104: {
    severity: "error",
    title: "A field has a value of the wrong kind",
    why: 'Values are taken as they are written: `"true"` is a text and not a truth value, `"60"` is not a number.',
    bad: '{ "id": "send", "type": "action", "codeFile": "send.py", "effects": "yes" }',
    good: '{ "id": "send", "type": "action", "codeFile": "send.py", "effects": true }',
  },
  NOVA105: {
    severity: "error",
    title: "A field is not known",
    why: "A misspelt field would be ignored in silence, and its node would run with the default. So it is refused.",
    bad: '{ "id": "read", "type": "action", "codeFile": "read.py", "timout": 120 }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py", "timeout": 120 }',
  },
  NOVA106: {
    severity: "error",
    title: "A field is missing",
    why: "Nodes need `id` and `type`, edges need `from` and `to`.",
    bad: '{ "from": "start" }',
    good: '{ "from": "start", "to": "read" }',
  },
  NOVA107: {
    severity: "error",
    title: "An object has a field twice",
    why: "JSON readers keep the last and drop the first without a word: half of what was written would not run.",
    bad: '{ "id": "read", "type": "action", "code": "a = 1", "code": "b = 2" }',
    good: '{ "id": "read", "type": "action", "code": "a = 1\\nb = 2" }',
  },
  NOVA108: {
    severity: "error",
    title: "The workflow has no usable id",
    why: "The id of a workflow is the slug (lower case, digits, dashes) of its `id`, else of its `name`, else of its folder; at most 64 characters, at least one.",
    bad: '{ "name": "!!!", "nodes": [], "edges": [] }',
    good: '{ "id": "invoices", "name": "!!!", "nodes": [], "edges": [] }',
  },
  NOVA110: {
    severity: "error",
    title: "A node id is malformed",
    why: "The id is also the name of a Step Functions state and part of keys: a letter, then letters, digits, `_` or `-`, at most 64 in all.",
    bad: '{ "id": "read mail", "type": "action", "codeFile": "read.py" }',
    good: '{ "id": "read_mail", "name": "Read mail", "type": "action", "codeFile": "read.py" }',
  },
  NOVA111: {
    severity: "error",
    title: "Two nodes have one id",
    why: "Edges could mean either. The nodes of a map share their ids with the whole workflow: records and traces know nodes by them.",
    bad: '[{ "id": "end", "type": "end" }, { "id": "end", "type": "end" }]',
    good: '[{ "id": "done", "type": "end" }, { "id": "rejected", "type": "end" }]',
  },
  NOVA112: {
    severity: "error",
    title: "Two ids look alike",
    why: "Ids that differ only in case, `-` and `_` are one file on some disks and one word to most readers.",
    bad: '[{ "id": "read_mail", "type": "action" }, { "id": "Read-Mail", "type": "action" }]',
    good: '[{ "id": "read_mail", "type": "action" }, { "id": "read_reply", "type": "action" }]',
  },
  NOVA113: {
    severity: "error",
    title: "A node has an unknown type",
    why: "The types are `start`, `action`, `decision`, `map`, `approval`, `wait` and `end`; `StartNode`, `ActionNode`, `DecisionNode` and `EndNode` are older names of the same. There is none for branches that run side by side: several edges without a condition out of one node make them.",
    bad: '{ "id": "read", "type": "acton", "codeFile": "read.py" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
} as const satisfies Record<string, FindingKind>;
