import type { FindingKind } from "./kind.ts";

/** NOVA409 to 418, 425 and 430: what maps, approvals and waits ask for. */
export const waitingFindings = {
  NOVA409: {
    severity: "error",
    title: "A duration is malformed or too long",
    why: "Whole seconds as a number, or a text of a whole number and `s`, `m`, `h` or `d`; at most a year (Step Functions).",
    bad: '{ "id": "pause", "type": "wait", "seconds": "5 min" }',
    good: '{ "id": "pause", "type": "wait", "seconds": "5m" }',
  },
  NOVA410: {
    severity: "error",
    title: "Choices that cannot be told apart",
    why: "Each choice is a text of its own, and the condition of an edge. `timeout` and `default` are conditions already.",
    bad: '{ "id": "pay", "type": "approval", "message": "Pay?", "choices": ["yes", "default"] }',
    good: '{ "id": "pay", "type": "approval", "message": "Pay?", "choices": ["yes", "no"] }',
  },
  NOVA411: {
    severity: "error",
    title: "A choice leads nowhere",
    why: "A person may choose it, and the run would not know how to go on. (An edge for `timeout` may be missing: then the node fails when the time is over.)",
    bad: '[{ "from": "pay", "to": "book", "condition": "approved" }]',
    good: '[{ "from": "pay", "to": "book", "condition": "approved" }, { "from": "pay", "to": "end", "condition": "rejected" }]',
  },
  NOVA412: {
    severity: "error",
    title: "An edge waits for what nobody can choose",
    why: "The conditions of edges out of an approval are its choices, `timeout`, and `default` for all others.",
    bad: '{ "from": "pay", "to": "book", "condition": "aproved" }',
    good: '{ "from": "pay", "to": "book", "condition": "approved" }',
  },
  NOVA413: {
    severity: "error",
    title: "It is not clear what a wait waits for",
    why: "Exactly one of `seconds`, `until` and `event`; `timeout` and `into` belong to `event`.",
    bad: '{ "id": "pause", "type": "wait", "seconds": 30, "until": "2026-01-31T09:00:00Z" }',
    good: '{ "id": "pause", "type": "wait", "until": "2026-01-31T09:00:00Z" }',
  },
  NOVA414: {
    severity: "error",
    title: "`until` is no time",
    why: "A date, `T`, a time and its zone (`Z`, or an offset such as `+01:00`); or one `{{dot.path}}` and nothing else, whose value in the context is such a text.",
    bad: '{ "id": "pause", "type": "wait", "until": "31.01.2026 9:00" }',
    good: '{ "id": "pause", "type": "wait", "until": "2026-01-31T09:00:00+01:00" }',
  },
  NOVA415: {
    severity: "error",
    title: "An event pattern cannot fit any event",
    why: "As in EventBridge: an object of fields, each with a list of values, or with an object of further fields. A value may be one of the operators prefix, suffix, anything-but, numeric, exists, equals-ignore-case and wildcard. Templates (`{{dot.path}}`) stand in values, and never in the name of a field.",
    bad: '{ "id": "paid", "type": "wait", "event": { "source": "shop" } }',
    good: '{ "id": "paid", "type": "wait", "event": { "source": ["shop"], "detail": { "order": ["{{order.id}}"], "total": [{ "numeric": [">", 100] }] } } }',
  },
  NOVA416: {
    severity: "error",
    title: "A form is not a usable JSON schema",
    why: "It describes the object that comes with an answer: its fields stand under `properties`. Answers are kept in the chain of work, so `secret` would protect nothing.",
    bad: '{ "id": "pay", "type": "approval", "message": "Pay?", "form": { "reason": { "type": "string" } } }',
    good: '{ "id": "pay", "type": "approval", "message": "Pay?", "form": { "properties": { "reason": { "type": "string" } } } }',
  },
  NOVA417: {
    severity: "error",
    title: "A gap of a text has no path",
    why: "Between `{{` and `}}` stands the dot path of a value in the context, and nothing else.",
    bad: '{ "id": "pay", "type": "approval", "message": "Pay {{invoice.total + 1}}?" }',
    good: '{ "id": "pay", "type": "approval", "message": "Pay {{invoice.total}}?" }',
  },
  NOVA418: {
    severity: "error",
    title: "A key or a path is malformed",
    why: "`items` is a dot path of keys and numbers. `as` and `into` are single keys: a letter or `_`, then letters, digits, `_` or `-`.",
    bad: '{ "id": "each", "type": "map", "items": "{{mails}}", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [] }',
    good: '{ "id": "each", "type": "map", "items": "mails", "nodes": [{ "id": "read", "type": "action", "codeFile": "read.py" }], "edges": [] }',
  },
  NOVA425: {
    severity: "warning",
    title: "One event wakes every run that waits",
    why: "The pattern names nothing of the run, so all runs that wait here go on with the same event. `{{dot.path}}` in a text of the pattern stands for a value that the context has when the wait begins; inside of `anything-but` it names every run but this one. Where all of them are meant, as with the opening of a market, nothing has to be changed.",
    bad: '{ "id": "paid", "type": "wait", "event": { "source": ["crm"], "detail-type": ["Paid"] } }',
    good: '{ "id": "paid", "type": "wait", "event": { "source": ["crm"], "detail": { "customer": ["{{customer.id}}"] } } }',
  },
  NOVA430: {
    severity: "error",
    title: "A form is for no choice",
    why: "`forms` has a form for a choice that the approval does not offer; or every choice has one there, and `form` would never be asked.",
    bad: '{ "id": "pay", "type": "approval", "message": "Pay?", "forms": { "aproved": { "required": ["cost_center"] } } }',
    good: '{ "id": "pay", "type": "approval", "message": "Pay?", "forms": { "approved": { "required": ["cost_center"] } } }',
  },
} as const satisfies Record<string, FindingKind>;
