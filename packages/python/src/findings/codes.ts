/** What docs/python-findings.md says about one code. */
export interface CodeFindingKind {
  severity: "error" | "warning";
  title: string;
  why: string;
  bad: string;
  good: string;
}

/** Every code of `nova check`; a code never changes its meaning, and that of a removed finding is not used again. */
export const codeFindings = {
  PY101: {
    severity: "error",
    title: "Python cannot read the code",
    why: "Nothing of it would run. The other checks wait until it can be read.",
    bad: 'if context["total"] > 1000\n    context["high"] = True',
    good: 'if context["total"] > 1000:\n    context["high"] = True',
  },
  PY102: {
    severity: "error",
    title: "A name is not defined",
    why: "The code stops with a NameError where the line runs. Values of the context are not names: they are taken out of `context`.",
    bad: 'context["domain"] = email_user.split("@")[1]',
    good: 'email_user = context["email_user"]\ncontext["domain"] = email_user.split("@")[1]',
  },
  PY103: {
    severity: "error",
    title: "A local name is read before it is set",
    why: "A function that sets a name anywhere has it as its own; the name outside of it is not seen there.",
    bad: "count = 0\ndef add():\n    count += 1",
    good: "count = 0\ndef add():\n    global count\n    count += 1",
  },
  PY104: {
    severity: "warning",
    title: "A name is perhaps not defined",
    why: "Nothing in sight defines it, but the code makes names while it runs, or Python never looks the name up.",
    bad: 'exec(context["rules"])\nresult = rule(1)',
    good: 'rules = {}\nexec(context["rules"], rules)\nresult = rules["rule"](1)',
  },
  PY105: {
    severity: "error",
    title: "The code is too large to be checked",
    why: "Code of one node has at most 200,000 characters, and goes at most 500 levels deep: a bracket or an indentation makes one or two, each further operator of a chain one. Python itself refuses most code that goes deeper.",
    bad: 'context["page"] = "<p>" + a + "</p>" + b + ...   # 1,000 times',
    good: 'context["page"] = "".join(parts)',
  },
  PY110: {
    severity: "error",
    title: "The context has no such key",
    why: "The code stops with a KeyError. Only keys that nothing sets before are meant, and that the code takes for granted; with `.get()` slips for a key that it reads nowhere.",
    bad: 'context["gross"] = context["totl"] * 1.19',
    good: 'context["gross"] = context["total"] * 1.19',
  },
  PY111: {
    severity: "error",
    title: "A value of the context has no such key",
    why: "All keys of this value are known, and this is none of them. Of a list its first item is known, and the code comes to that.",
    bad: 'context["to"] = context["email"]["form"]',
    good: 'context["to"] = context["email"]["from"]',
  },
  PY112: {
    severity: "warning",
    title: "The context may have no such key",
    why: "Where the key is absent the code goes another way, or it is not certain that it comes here.",
    bad: 'context["name"] = context.get("customer", "")',
    good: 'context["name"] = context.get("customer_name", "")',
  },
  PY113: {
    severity: "error",
    title: "A key of the context is read as an attribute",
    why: "`context` is a dict: its keys stand in brackets.",
    bad: 'total = context.total\ncontext["gross"] = total * 1.19',
    good: 'total = context["total"]\ncontext["gross"] = total * 1.19',
  },
  PY120: {
    severity: "error",
    title: "The code has no result",
    why: "It neither changes the context nor prints a result with json.dumps, so nothing of what it did would be kept.",
    bad: 'total = sum(context["prices"])\nprint(total)',
    good: 'context["total"] = sum(context["prices"])',
  },
  PY121: {
    severity: "error",
    title: "The context is replaced, and the answer lost",
    why: "Only changes of the dict that the code was given are kept.",
    bad: 'context = {"total": 850.0}',
    good: 'context.update({"total": 850.0})',
  },
  PY122: {
    severity: "warning",
    title: "The name context is given to something else",
    why: "From there on the name is no longer the context, and what is set in it is not kept.",
    bad: 'for context in context["lines"]:\n    print(context)',
    good: 'for line in context["lines"]:\n    print(line)',
  },
  PY130: {
    severity: "error",
    title: "The decision never decides",
    why: "Nothing sets `branch_decision`, whatever an earlier node left there has been removed, and so the node would fail.",
    bad: 'is_high = context["total"] > 1000',
    good: 'context["branch_decision"] = context["total"] > 1000',
  },
  PY131: {
    severity: "error",
    title: "No edge has any of the decision's values",
    why: "All values that the code can set are known, and none of them is the condition of an edge.",
    bad: 'context["branch_decision"] = "yes"     # the edges: "true", "false"',
    good: 'context["branch_decision"] = "true"',
  },
  PY132: {
    severity: "warning",
    title: "No edge has one of the decision's values",
    why: "When the code decides so, the node fails, unless an edge has the condition `default`.",
    bad: 'context["branch_decision"] = "high" if context["total"] > 1000 else "medium"     # "high", "low"',
    good: 'context["branch_decision"] = "high" if context["total"] > 1000 else "low"',
  },
  PY140: {
    severity: "error",
    title: "A module cannot be imported",
    why: "It is neither part of Python nor of the sandbox, and neither `requirements` nor `lib/` of the workflow provide it.",
    bad: 'import tensorflow\ncontext["version"] = tensorflow.__version__',
    good: 'import pandas\ncontext["version"] = pandas.__version__',
  },
  PY141: {
    severity: "error",
    title: "An import is relative",
    why: "A node's code is a script, not part of a package: modules of `lib/` are imported by their names.",
    bad: 'from .totals import find_total\ncontext["total"] = find_total(context["words"])',
    good: 'from totals import find_total\ncontext["total"] = find_total(context["words"])',
  },
  PY150: {
    severity: "error",
    title: "A value cannot be kept in the context",
    why: "The context is JSON and bytes. Everything else has to become a text, a number, a list or a dict first.",
    bad: 'from datetime import datetime\ncontext["read_at"] = datetime.now()',
    good: 'from datetime import datetime\ncontext["read_at"] = datetime.now().isoformat()',
  },
  PY151: {
    severity: "error",
    title: "json.dumps cannot write a value",
    why: "It stops with a TypeError, and the result is not printed.",
    bad: 'print(json.dumps({"status": "success", "context_updates": {"tags": {"a", "b"}}}))',
    good: 'print(json.dumps({"status": "success", "context_updates": {"tags": ["a", "b"]}}))',
  },
} as const satisfies Record<string, CodeFindingKind>;

export type CodeFindingCode = keyof typeof codeFindings;

export interface CodeFinding {
  code: CodeFindingCode;
  /** From 1; columns count UTF-16 units, as editors do. */
  line: number;
  column: number;
  /** One sentence: what is wrong, and the way out. */
  message: string;
  severity: "error" | "warning";
}
