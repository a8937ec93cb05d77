import { writeFileSync } from "node:fs";
import {
  type CodeKeys,
  createModuleFinder,
  findAssignedKeys,
  findLookedUpKeys,
  listContextReads,
  readCodeKeys,
  setsBranchDecision,
} from "@nova/python";
import { describe, expect, it } from "vitest";
import { isComplete, isScalar, shapeAt, shapeOf } from "../../packages/python/src/shape.ts";
import { readCorpus, type Snippet, template } from "./support/corpus.ts";
import { type FaultKind, faultsOf } from "./support/faults.ts";

const [correct, roundabout] = [readCorpus("correct"), readCorpus("roundabout")];

/**
 * Keys that a snippet reads although its facts do not list them. A real workflow would declare these keys in `inputs`.
 */
const elsewhere: Record<string, string> = { discriminated: "receipt_sum", dispatch_table: "factor" };
const fromNova = ["branch_decision", "error", "_data_analysis"];

/** Returns the keys that the check of a workflow would report as missing for this snippet. */
function missingIn({ name, source, facts }: Snippet): string[] {
  const given = [...Object.keys(facts.context ?? {}), ...fromNova, elsewhere[name] ?? ""];
  const missing = facts.context && readCodeKeys(source)?.missing(given);
  return (missing ?? []).map(({ key }) => key);
}

function foreignIn({ source, facts: { modules = [], lib = [] } }: Snippet): string[] {
  const own = Object.fromEntries(lib.map((name) => [name, ""]));
  return createModuleFinder({ requirements: template, lib: own })(source)
    .map(({ module }) => module)
    .filter((module) => !modules.includes(module));
}

describe("the checks of keys and imports", () => {
  it("find no mistake in correct Python code", () => {
    const said = [...correct, ...roundabout].map((one) => [one.name, ...missingIn(one), ...foreignIn(one)]);
    expect(said.filter(([, ...found]) => found.length > 0)).toEqual([]);
  });

  it.each<[FaultKind, (fault: Snippet) => string[]]>([
    ["wrong key", missingIn],
    ["missing import", foreignIn],
  ])("find at least 95 % of the faults that a test inserts into correct Python code: %s", (kind, find) => {
    const faults = correct.flatMap(faultsOf).filter((one) => one.kind === kind);
    const missed = faults.filter((fault) => find(fault).length === 0);
    if (process.env.NOVA_FIGURES) writeFileSync(2, missed.map(({ name, how }) => `missed ${name}: ${how}\n`).join(""));
    expect(faults.length).toBeGreaterThanOrEqual(30);
    expect(1 - missed.length / faults.length, `${missed.length} of ${faults.length}`).toBeGreaterThanOrEqual(0.95);
  });
});

const wanted = /^(error|\$.*)$/;

it.each([
  ["a plain key", "context['error'] = 1", ["error 1:1"]],
  ["each key once", 'x = 1; context["error"] = 1\ncontext["error"] = 2; context["$a"] += 1', ["error 1:8", "$a 2:23"]],
  ["one of several targets", "a, context['error'] = 1, 2", ["error 1:4"]],
  ["a key set in a function", "def f():\n    context['error'] = 1", ["error 2:5"]],
])("findAssignedKeys finds %s", (_what, source, places) => {
  expect(findAssignedKeys(source, wanted).map(({ key, line, column }) => `${key} ${line}:${column}`)).toEqual(places);
});

it.each([
  ["is read", "x = context['error']; context['errors'] = x"],
  ["has a value that is changed in place", "context['error']['seen'] = True"],
  ["is deleted", "del context['error']"],
  ["is compared", "x = context['error'] == 1"],
  ["belongs to another dict", "x = context['error']\nx['error'] = 1"],
  ["is only text", "x = \"context['error'] = 1\""],
])("findAssignedKeys finds no assignment if the key %s", (_what, source) => {
  expect(findAssignedKeys(source, wanted)).toEqual([]);
});

it("listContextReads lists the context keys that code reads", () => {
  const source = `
mail = context["mail"]
context["to"] = mail["from"]["address"]
if "vat" in context:
    context["gross"] = context.get("net", 0) + context["vat"]
for line in context["lines"]:
    line["sum"] = line["price"]
del context["raw"]
context.pop("tmp", None)
`;
  expect(listContextReads(source)).toEqual([
    { path: "mail", optional: false },
    { path: "mail.from.address", optional: false },
    { path: "mail.from", optional: false },
    { path: "vat", optional: false },
    { path: "net", optional: true },
    { path: "lines", optional: false },
    { path: "raw", optional: false },
    { path: "tmp", optional: true },
  ]);
});

it("listContextReads lists no computed keys, and no keys of code that cannot be parsed", () => {
  expect(listContextReads("context[key] = context[other]")).toEqual([]);
  expect(listContextReads("context['a' = 1")).toEqual([]);
});

it.each([
  ["it sets another key", 'context["decision"] = context["total"] > 1000'],
  ["it misspells the key", "context['branch_decison'] = context.get('has_pdf', False)"],
  ["it sets only a variable of its own", 'decision = "high" if context["total"] > 1000 else "low"'],
  ["it only prints text", 'print("total", context["total"])'],
  ["it only tests whether a key is present", 'ok = "pdf" in context'],
  ["only a comment contains the key", '# sets context["branch_decision"]\nx = context["a"]'],
  ["the code is empty", ""],
])("setsBranchDecision returns false for code, if %s", (_, source) => {
  expect(setsBranchDecision(source)).toBe(false);
});

it.each([
  ["it sets the key", "context['branch_decision'] = True"],
  ["it updates the context with unknown keys", "context.update(result)"],
  ["it passes the context to a function", "from mylib import decide\ndecide(context)"],
  ["it gives the context another name", "c = context\nc[name] = 1"],
  ["it builds a key from texts", 'context["branch_" + "decision"] = 1'],
  ["it sets a key that it computes", "context[key] = 1"],
  ["it formats a key", 'context[f"{a}_decision"] = 1'],
  ["it merges an unknown dict into the context", "context |= answer"],
  ["it prints a result", "print(json.dumps(answer))"],
  ["it runs code that it builds", "exec(program)"],
  ["it uses globals()", "globals()[name][key] = 1"],
  ["it sets keys in a loop over the context", "for k in context.keys(): context[k] = 1"],
])("setsBranchDecision returns true for code, if %s", (_, source) => {
  expect(setsBranchDecision(source)).toBe(true);
});

it.each(["def decide(c): c['branch_decision'] = 1", "import json\ndef answer(d): print(json.dumps(d))"])(
  "setsBranchDecision returns true if a module of lib may set the decision: %s",
  (module) => {
    expect(setsBranchDecision("import decide", { "decide.py": module })).toBe(true);
  },
);

describe("the keys that readCodeKeys finds", () => {
  const keys = (source: string) => readCodeKeys(source) as CodeKeys;

  it("are returned with the first position that sets them, and with the information whether every run sets them", () => {
    const { sets } = keys('# a\r\nif x:\r\n    context[ \'b\' ] = 2\r\ncontext["a"] = 1\r\ncontext["c"] == 3');
    expect([...sets]).toEqual([
      ["b", { line: 3, column: 5, always: false }],
      ["a", { line: 4, column: 1, always: true }],
    ]);
  });

  it.each([
    ['x = context["a"]'],
    ["x = context.get('a', 0)"],
    ['ok = "a" in context'],
    ['context["a"] = context["a"] + 1'],
    ['del context["a"]'],
    ['context["a"] += 1'],
    ["text = f\"{context['a']}\""],
  ])("count as read only if the code reads them: %s", (code) => {
    expect([keys(code).mayRead("a"), keys(code).mayRead("b")]).toEqual([true, false]);
  });

  it.each([
    ["context.update(x)"],
    ["print(context)"],
    ["c = context"],
    ["context[key] = 1"],
    ["context[f'{x}'] = 1"],
    ["for key in context.keys(): pass"],
    ["exec(code)"],
  ])("all count as read if the code may read any key: %s", (code) => {
    expect(keys(code).mayRead("anything")).toBe(true);
  });

  it("do not include keys in comments", () => {
    expect([...keys('# context["a"] = 1\n  # context["b"] = 2').sets]).toEqual([]);
  });

  it("include the keys that the code deletes", () => {
    const code = "del context[ 'a' ]\ncontext.pop(\"b\", None)\n# del context['c']\ndel other['d']";
    expect(keys(code).deletes).toEqual(new Set(["a", "b"]));
  });
});

it.each<[string, string[] | null | "more"]>([
  ['context["a"] = context["b"] + context.get("c", 0)', ["b", "c"]],
  ['context["a"] = 1', []],
  ['context["a"] += 1', ["a"]],
  ['if "a" in context: pass', ["a"]],
  ['key = "a"\ncontext[key]', null],
  ["for key in context: pass", null],
  ["helper(context)", null],
  ['context["a"] = outputs["one"]["b"]', "more"],
  ['tasks["wait"].url', "more"],
  ["this is no code", "more"],
])("findLookedUpKeys returns the keys that code may look up: %s", (source, expected) => {
  expect(findLookedUpKeys(source)).toEqual(expected);
});

describe("context.get() with a dot path", () => {
  const code = 'context["y"] = [context.get("email.subject"), context.get("items.0.name")]';

  it("reads only the keys along the path", () => {
    expect(listContextReads(code)).toEqual([
      { path: "email.subject", optional: true },
      { path: "items", optional: true },
    ]);
    expect([...(readCodeKeys(code)?.reads ?? [])]).toEqual(["email", "items"]);
    expect(readCodeKeys(code)?.mayRead("email")).toBe(true);
  });

  it("counts as a lookup of the whole path and also of the first key in the path", () => {
    expect(findLookedUpKeys(code)).toEqual(expect.arrayContaining(["email", "email.subject", "items"]));
  });
});

const shape = { mail: shapeOf({ to: "a", files: [{ name: "x.pdf" }] }), total: shapeOf(1.5) };

it.each([
  [["total"], "number"],
  [["mail", "to"], "string"],
  [["mail", "files", "[]", "name"], "string"],
  [["mail", "files", "[]"], "object"],
  [["mail", "cc"], undefined],
  [["mail", "to", "deeper"], undefined],
  [["constructor"], undefined],
  [[], undefined],
])("shapeAt finds at the path %j of a context a value of the type %s", (path, type) => {
  expect(shapeAt(shape, path)?.type).toBe(type);
});

it("isComplete returns true for an object only if all its members are known", () => {
  expect(isComplete(shapeOf({ a: 1 }))).toBe(true);
  expect(isComplete({ type: "object", size: 2, members: { a: { type: "null" } } })).toBe(false);
  expect(isComplete({ type: "object", size: 2 })).toBe(false);
  expect(isComplete(shapeOf([1]))).toBe(false);
});

it("isScalar returns true only for immutable values", () => {
  expect([1, "a", null, true].map((value) => isScalar(shapeOf(value)))).toEqual([true, true, true, true]);
  expect([isScalar(shapeOf([1])), isScalar(shapeOf({})), isScalar(undefined)]).toEqual([false, false, false]);
});
