import type { FindingKind } from "./kind.ts";

/** NOVA5xx: what a run knows. NOVA6xx: Python. NOVA7xx: the state machine. */
export const dataFindings = {
  NOVA501: {
    severity: "error",
    title: "`inputs` is not a usable JSON schema",
    why: "It describes the context object that a run starts with: the keys stand under `properties`. References lead to `$defs` of the same schema.",
    bad: '"inputs": { "email": { "type": "string" } }',
    good: '"inputs": { "properties": { "email": { "type": "string" } }, "required": ["email"] }',
  },
  NOVA502: {
    severity: "error",
    title: "A reserved key",
    why: "`branch_decision`, `error`, `_data_analysis` and `_ai_metadata` are set by NOVA, and keys that begin with `$` mark its references to large values.",
    bad: '"inputs": { "properties": { "error": { "type": "string" } } }',
    good: '"inputs": { "properties": { "complaint": { "type": "string" } } }',
  },
  NOVA503: {
    severity: "error",
    title: "A secret that would not be kept",
    why: "`secret: true` covers a whole key of the context, so it stands directly in `inputs.properties.<key>`. Deeper it would protect nothing.",
    bad: '"inputs": { "properties": { "mail": { "properties": { "password": { "secret": true } } } } }',
    good: '"inputs": { "properties": { "mail": { "type": "object", "secret": true } } }',
  },
  NOVA504: {
    severity: "warning",
    title: "A value is overwritten before anything reads it",
    why: "On every way from the first node the second one sets the same key, and nothing in between looks at it: the first result is lost, or one of the names is wrong.",
    bad: 'context["total"] = 1   # node "find"\ncontext["total"] = 2   # node "convert", directly behind it',
    good: 'context["total"] = 1\ncontext["total"] = context["total"] * 2',
  },
  NOVA505: {
    severity: "error",
    title: "The context does not fit `inputs`",
    why: "A run starts only with the context that its workflow declares.",
    bad: "nova run invoices --set amount='\"12\"'",
    good: "nova run invoices --set amount=12",
  },
  NOVA506: {
    severity: "error",
    title: "The context is not a JSON object",
    why: "The context is an object whose keys the nodes read.",
    bad: '["a", "b"]',
    good: '{ "items": ["a", "b"] }',
  },
  NOVA601: {
    severity: "error",
    title: "Python cannot read the code",
    why: "A syntax error, found without running it.",
    bad: 'if context["total"] > 1000\n    high = True',
    good: 'if context["total"] > 1000:\n    high = True',
  },
  NOVA602: {
    severity: "error",
    title: "The code uses an undefined name",
    why: "Code knows `context`, `outputs`, `json`, `base64`, Python's own names and what it imports or sets itself.",
    bad: 'send(email_user, "hello")',
    good: 'from mails import send   # lib/mails.py\nsend(context["email_user"], "hello")',
  },
  NOVA603: {
    severity: "error",
    title: "A decision never decides",
    why: 'The code of a decision sets `context["branch_decision"]`; this code cannot.',
    bad: 'context["decision"] = context["total"] > 1000',
    good: 'context["branch_decision"] = context["total"] > 1000',
  },
  NOVA604: {
    severity: "warning",
    title: "The name `context` is given to something else",
    why: "What a node sets is what it changes in the dict that it was given. Behind `context = ...`, `for context in`, `with ... as context`, `import ... as context` or `def context` the name means another object, and what the code does to that is not kept.",
    bad: "import ssl\ncontext = ssl.create_default_context()",
    good: "import ssl\ntls = ssl.create_default_context()",
  },
  NOVA605: {
    severity: "error",
    title: "The code answers with another dict, which is lost",
    why: "Changes of the dict that the code was given are its result; a new dict under the same name is not. Where nothing else could carry the answer (no printed result, no second name for the given dict), it is certain to be lost.",
    bad: 'context = {"total": context["net"] * 1.2}',
    good: 'context.update({"total": context["net"] * 1.2})   # behind context.clear() where the rest has to go',
  },
  NOVA701: {
    severity: "error",
    title: "The state machine is too large",
    why: "Step Functions takes a definition of 1 MB. Code does not count (it travels with the version), states and descriptions do.",
    bad: "a workflow of 2,000 nodes",
    good: "two workflows of 1,000 nodes",
  },
} as const satisfies Record<string, FindingKind>;
