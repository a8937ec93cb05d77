import {
  type CodeFinding,
  checkNodeCode,
  codeFindings,
  listImportableModules,
  type NodeFacts,
  shapeOf,
} from "@nova/python";
import { describe, expect, it } from "vitest";
import { explainedIn, severitiesIn } from "../support/findings-page.ts";
import { template } from "./support/corpus.ts";

const context = {
  email_user: shapeOf("a@b.c"),
  total: shapeOf(5),
  kind: shapeOf("invoice"),
  order: shapeOf({ id: 1, customer: { name: "A" }, lines: [{ price: 1 }] }),
};

const check = (source: string, facts: Partial<NodeFacts> = {}) =>
  checkNodeCode(source, { nodeType: "action", context, ...facts });
const textOf = ({ code, line, column, message }: CodeFinding) => `${line}:${column} ${code} ${message}`;
const found = async (source: string, facts?: Partial<NodeFacts>) => (await check(source, facts)).map(textOf);

describe("checkNodeCode", () => {
  it.each<[string, Partial<NodeFacts>, string]>([
    [
      "context['a'] = email_user",
      {},
      '1:16 PY102 the name "email_user" is not defined - take it from the context: email_user = context["email_user"]',
    ],
    [
      "context['a'] = emial_user",
      {},
      '1:16 PY102 the name "emial_user" is not defined - import it or set it before, or did you mean context["email_user"]?',
    ],
    ["context['a'] = context['totl']", {}, '1:24 PY110 the context has no key "totl" - did you mean "total"?'],
    [
      "context['a'] = context['vat']",
      {},
      '1:24 PY110 the context has no key "vat" - it has email_user, total, kind, order',
    ],
    [
      "context['a'] = context['order']['nr']",
      {},
      '1:33 PY111 context["order"] has no key "nr" - it has id, customer, lines',
    ],
    [
      "context['a'] = context.total",
      {},
      '1:16 PY113 context is a dict and has no attribute "total" - write context["total"]',
    ],
    [
      "x = 1\nprint(x)",
      {},
      '2:1 PY120 the code has no result: it neither changes the context nor prints one - set what it found in context: context["result"] = ...',
    ],
    ...[
      "print({'status': 'success', 'context_updates': {'a': 1}})",
      'print(\'{"status": "success", "context_updates": {"a": 1}}\')',
      'print(f\'{{"context_updates": {{"a": {1}}}}}\')',
      'print(\'{"context_updates": {"a": %s}}\' % 1)',
      "print(str({'context_updates': {}}))",
      "print({'status': 'error', 'message': 'no total'})",
    ].map((code): [string, object, string] => [
      code,
      {},
      "1:1 PY120 the code has no result: what it prints does not count, because json.dumps does not make it - write print(json.dumps({...}))",
    ]),
    [
      "import pprint\nr = {'context_updates': {'a': 1}}\ncontext['b'] = 1\npprint.pprint(r)",
      {},
      "4:1 PY121 a result is lost: what it prints does not count, because json.dumps does not make it - write print(json.dumps({...}))",
    ],
    [
      "x = 1",
      { nodeType: "decision", edges: ["yes", "no"] },
      '1:1 PY130 the decision never decides - set context["branch_decision"] to one of "yes", "no"',
    ],
    [
      "context['branch_decison'] = 1",
      { nodeType: "decision" },
      '1:1 PY130 the decision never decides: it sets context["branch_decison"] - write context["branch_decision"]',
    ],
    [
      "import reqests\ncontext['a'] = 1",
      { modules: ["requests"] },
      '1:8 PY140 the sandbox has no module "reqests" - add its package to "requirements" of the workflow, or did you mean "requests"?',
    ],
    [
      "from .a import b\ncontext['a'] = b",
      {},
      '1:1 PY141 a node\'s code is no package, so ".a" leads nowhere - import a of lib/ by its name',
    ],
    [
      "context['a'] = {'b': [{1}]}",
      {},
      '1:16 PY150 context key "a.b[]" gets a set, which cannot be kept as JSON - use sorted(x) or list(x)',
    ],
    [
      "print(json.dumps({'a': {1}}))",
      {},
      '1:24 PY151 json.dumps cannot write what "a" is, a set - use sorted(x) or list(x)',
    ],
  ])("reports the mistake, its position and the correction for the code %j", async (source, facts, expected) => {
    expect(await found(source, facts)).toEqual([expected]);
  });

  it("counts columns in UTF-16 units, and accepts every kind of line ending", async () => {
    expect(await found("x = '𝄞'\r\ny = '𝄞'; context['a'] = context['totl']")).toEqual([
      expect.stringMatching(/^2:34 PY110/),
    ]);
  });

  it("reports only the syntax error if Python cannot parse the code", async () => {
    expect((await check("if x\n  y = unknown")).map(({ code }) => code)).toEqual(["PY101"]);
  });

  it("reports all findings at once, in the order of the source", async () => {
    const codes = (await check("import nope\nx = context['totl']\ny = zzz", { modules: [] })).map(({ code }) => code);
    expect(codes).toEqual(["PY140", "PY110", "PY120", "PY102"]);
  });

  it.each(["# noqa", "# noqa: PY110", "# noqa: F821, PY110"])(
    "reports nothing in a line with the comment %s",
    async (comment) => {
      expect(await found(`context['a'] = context['totl']  ${comment}`)).toEqual([]);
      expect(await found("context['a'] = context['totl']  # noqa: PY999")).toHaveLength(1);
    },
  );
});

describe("keys that are missing in the context", () => {
  it("are not reported if the context is unknown", async () => {
    expect(await checkNodeCode("context['a'] = context['b']", { nodeType: "action" })).toEqual([]);
  });

  it.each([
    ["tested before", "if 'vat' in context: context['a'] = context['vat']"],
    ["tested elsewhere", "x = context.get('vat')\ncontext['a'] = context['vat'] if x else 0"],
    ["read in a try", "try:\n  context['a'] = context['vat']\nexcept KeyError:\n  context['a'] = 0"],
    [
      "read in a function whose call is in a try",
      "def f(): return context['vat']\ntry:\n  context['a'] = f()\nexcept LookupError:\n  context['a'] = 0",
    ],
    ["set before", "context['vat'] = 1\ncontext['a'] = context['vat']"],
    ["set by an update", "context.update(json.loads(context['kind']))\ncontext['a'] = context['vat']"],
    ["set in a function", "def f(): context['vat'] = 1\nf()\ncontext['a'] = context['vat']"],
    [
      "read from a value that was replaced",
      "context['order'] = json.loads(context['kind'])\ncontext['a'] = context['order']['number']",
    ],
    [
      "read from a value that a function may have changed",
      "enrich(context['order'])  # noqa\ncontext['a'] = context['order']['number']",
    ],
    ["read from an object of which only some keys are known", "context['a'] = context['part']['x']"],
  ])("cause no finding if they are %s", async (_, source) => {
    const part = { type: "object", size: 5, members: {} } as const;
    expect(await found(source, { context: { ...context, part } })).toEqual([]);
  });

  it.each([
    ["in one branch", "if context['kind'] == 'receipt': context['a'] = context['receipt_no']\nelse: context['a'] = 1"],
    [
      "after a possible exit",
      "import sys\nif context['kind'] == 'x': sys.exit()\ncontext['a'] = context['receipt_no']",
    ],
    [
      "by a function that is a value of a dict",
      "def f(): return context['receipt_no']\ntable = {'x': f}\ncontext['a'] = table[context['kind']]()",
    ],
    ["with get", "context['a'] = context.get('totals', 0)"],
    ["although NOVA may set them", "context['a'] = context['_data_analysis']"],
  ])("cause only a warning if they are read %s", async (_, source) => {
    expect((await check(source)).map(({ code, severity }) => [code, severity])).toEqual([["PY112", "warning"]]);
  });

  it("cause an error if they are misspelt, even in code that runs in only one branch", async () => {
    const source = "if context['kind'] == 'x': context['a'] = context['emial_user']\nelse: context['a'] = 1";
    expect(await found(source)).toEqual([expect.stringContaining("PY110")]);
  });

  it("include branch_decision if a decision reads this key before it sets the key", async () => {
    const source = "context['branch_decision'] = context['branch_decision'] == 'x'";
    const facts = { nodeType: "decision", context: { branch_decision: shapeOf("x") } } as const;
    expect(await found(source, facts)).toEqual([expect.stringContaining("PY110")]);
  });
});

describe("the imports of a node's code", () => {
  it.each([
    ["import a_package", { modules: ["a_package"] }],
    ["import mails", { modules: [], lib: ["lib/mails.py"] }],
    ["import anything", {}],
    ["import os.path, xml.etree.ElementTree", { modules: [] }],
    ["try:\n  import ujson\nexcept ImportError:\n  ujson = json", { modules: [] }],
    ["from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import torch", { modules: [] }],
    ["import sys\nsys.path.append('/tmp')\nimport made", { modules: [] }],
  ])("cause no finding in %j", async (source, facts) => {
    expect(await found(`${source}\ncontext['a'] = 1`, facts)).toEqual([]);
  });
});

describe("an undefined name in a node's code", () => {
  it.each([
    ["in an annotation that is a text", 'def f(x: "Invoice"): return x\ncontext["a"] = f(1)'],
    [
      "in an annotation that Python does not evaluate",
      "from __future__ import annotations\ndef f(x: Invoice): return x\ncontext['a'] = f(1)",
    ],
    ["in the annotation of a local name", "def f():\n  x: Invoice = 1\n  return x\ncontext['a'] = f()"],
    ["deleted only after its use", "def g(): return 1\ndef f(): return g()\ncontext['a'] = f()\ndel g"],
    ["defined at run time", "globals()['f'] = len\ncontext['a'] = f([])"],
  ])("gets only a warning if it is %s", async (_, source) => {
    expect((await check(source)).map(({ code }) => code)).toEqual(["PY104"]);
  });

  it("in an annotation that is free text causes no syntax error", async () => {
    expect(await found('def f(x: "list of names"): return x\ncontext["a"] = f(1)')).not.toContainEqual(
      expect.stringContaining("PY101"),
    );
  });
});

describe("code of an analysis", () => {
  it.each([
    ["# STAGE: ANALYSIS\nresult = {'pages': 1}", []],
    ["# STAGE: ANALYSIS\npages = 1", ["PY120"]],
    ["# STAGE: TASK\nresult = {'pages': 1}", ["PY120"]],
  ])("written as %j has the findings %j", async (source, codes) => {
    expect((await check(source)).map(({ code }) => code)).toEqual(codes);
  });

  it("has no finding in a decision node, although it never sets `branch_decision`", async () => {
    expect(await found("# STAGE: ANALYSIS\nresult = {'pages': 1}", { nodeType: "decision" })).toEqual([]);
  });
});

it("docs/python-findings.md explains every code of a finding with its severity", () => {
  expect(severitiesIn("python-findings.md")).toEqual(codeFindings);
});

const { members: ofPage = {} } = shapeOf({
  total: 1,
  prices: [1.5],
  lines: [1.5],
  words: [],
  email: { from: "a", subject: "b" },
  email_user: "a",
  customer_name: "a",
  rules: "a",
});

describe("the examples of docs/python-findings.md", () => {
  const modules = listImportableModules(template);
  it.each(explainedIn("python-findings.md"))(
    "cause the finding %s if they are bad, and no such finding if they are good",
    async (code, { bad, good }) => {
      const nodeType = code.startsWith("PY13") ? "decision" : "action";
      const facts = { nodeType, context: ofPage, modules, lib: ["totals"] } as const;
      const codes = async (source: string) => (await checkNodeCode(source, facts)).map((found) => found.code);
      const whole = code === "PY105" ? bad.replace("...", Array(1000).fill("c").join(" + ")) : bad;
      expect(await codes(whole)).toContain(code);
      expect(await codes(good)).not.toContain(code);
    },
  );
});
