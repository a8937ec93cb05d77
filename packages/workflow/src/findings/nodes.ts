import type { FindingKind } from "./kind.ts";

/** NOVA4xx: what a single node asks for. */
export const nodeFindings = {
  NOVA401: {
    severity: "error",
    title: "A node has no code",
    why: "Actions and decisions do something: `code` or `codeFile` for Python, `prompt` or `promptFile` for a model.",
    bad: '{ "id": "read", "type": "action" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA402: {
    severity: "error",
    title: "A node has its code twice",
    why: "Only one could run.",
    bad: '{ "id": "read", "type": "action", "code": "a = 1", "codeFile": "read.py" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA403: {
    severity: "error",
    title: "The executor does not fit",
    why: "`code` (the default, older name `e2b`) runs Python written by hand; `prompt` (older name `cached`) takes a prompt, and a model writes the Python.",
    bad: '{ "id": "read", "type": "action", "executor": "prompt", "codeFile": "read.py" }',
    good: '{ "id": "read", "type": "action", "executor": "code", "codeFile": "read.py" }',
  },
  NOVA404: {
    severity: "error",
    title: "A file is missing",
    why: "`codeFile` and `promptFile` are paths of `.py`, `.txt` or `.md` files, relative to the folder of the workflow.",
    bad: '{ "id": "read", "type": "action", "codeFile": "raed.py" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA405: {
    severity: "error",
    title: "A file lies outside of the folder",
    why: "A workflow is complete in its folder, so that it runs elsewhere as it runs here. Shared code goes to `lib/`; a link must not lead out either (NOVA101).",
    bad: '{ "id": "read", "type": "action", "codeFile": "../shared/read.py" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py" }',
  },
  NOVA406: {
    severity: "error",
    title: "A timeout is out of range",
    why: "One run of code has 1 to 86,400 seconds: no sandbox lives longer than a day. A run of a prompt node's code has at most 600, because several attempts go into the time of one Lambda. A workflow has at most a year (Step Functions).",
    bad: '{ "id": "read", "type": "action", "codeFile": "read.py", "timeout": 100000 }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py", "timeout": 3600 }',
  },
  NOVA407: {
    severity: "error",
    title: "A retry contradicts the node's effects",
    why: '`"effects": true` says that code which has begun never runs again, and `retry` asks for just that. Without `effects` the code may be run again because you say so: every attempt has the same `NOVA_IDEMPOTENCY_KEY`, by which a system that it calls can tell a repetition.',
    bad: '{ "id": "rate", "type": "action", "codeFile": "rate.py", "effects": true, "retry": { "attempts": 3 } }',
    good: '{ "id": "rate", "type": "action", "codeFile": "rate.py", "retry": { "attempts": 3, "delay": "2s" } }',
  },
  NOVA408: {
    severity: "error",
    title: "A failure leads to an impossible place",
    why: "`onError` names an action, a decision or an end; not the start, and not the node that failed.",
    bad: '{ "id": "read", "type": "action", "codeFile": "read.py", "onError": "read" }',
    good: '{ "id": "read", "type": "action", "codeFile": "read.py", "onError": "report" }',
  },
  NOVA429: {
    severity: "warning",
    title: "An entry of `retry.on` names no known error",
    why: "An entry that no failure ever has retries nothing. It is the class of a Python exception, by its name or with its module, or one of NOVA's error classes; text behind it has to be in the message.",
    bad: '{ "id": "rate", "type": "action", "codeFile": "rate.py", "retry": { "attempts": 3, "on": ["NodeTimout"] } }',
    good: '{ "id": "rate", "type": "action", "codeFile": "rate.py", "retry": { "attempts": 3, "on": ["NodeTimeout", "requests.exceptions.ConnectionError", "HTTPError 503"] } }',
  },
} as const satisfies Record<string, FindingKind>;
