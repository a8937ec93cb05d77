import { parseWorkflow } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { at, didYouMean, segmentsOf } from "../../../packages/workflow/src/findings/finding.ts";
import { explainedIn } from "../../support/findings-page.ts";
import {
  action,
  codesOf,
  decision,
  each,
  end,
  graph,
  type Loose,
  parse,
  prompt,
  row,
  start,
  wait,
} from "../definition.ts";

const d = decision("d");
const [a, b] = [action("a"), action("b")];
const secret = { inputs: { properties: { pin: { secret: true }, pins: {} } } };
const branches = ["start > d", "a > end", "b > end"];

function withEdge(definition: Loose, more: Loose): Loose {
  return { ...definition, edges: [...(definition.edges as Loose[]), more] };
}

/** Maps a title to definitions, each with all of its findings. */
const table: Record<string, [definition: unknown, findings: string[], files?: Record<string, string>][]> = {
  "the shape of the file": [
    [[], ["NOVA103 $"]],
    [{ id: "x", node: [start, end], edges: [] }, ["NOVA103 $", "NOVA105 $.node"]],
    [{ id: "x", nodes: {}, edges: [] }, ["NOVA103 $.nodes"]],
    [{ id: "x", graph_definition: 3 }, ["NOVA103 $.graph_definition"]],
    [{ nodes: [], graph_definition: row(a) }, ["NOVA107 $.graph_definition.nodes"]],
    [{ ...row(a), id: true }, ["NOVA108 $.id"]],
    [{ ...row(a), id: "x".repeat(65) }, ["NOVA108 $.id"]],
    [{ ...row(a), requirements: ["a", 3] }, ["NOVA104 $.requirements[1]"]],
    [{ ...row(a), timeout: 1.5 }, ["NOVA406 $.timeout"]],
  ],
  "the fields of a node": [
    [graph([start, "a", end], ["start > end"]), ["NOVA104 $.nodes[1]"]],
    [row(action("a", { timout: 3 })), ["NOVA105 $.nodes[1].timout"]],
    [row(action("a", { effects: false, retry: { attempts: 2, dely: 1 } })), ["NOVA105 $.nodes[1].retry.dely"]],
    [graph([{ ...start, code: "a" }, end], ["start > end"]), ["NOVA105 $.nodes[0].code"]],
    [graph([start, { type: "end" }], []), ["NOVA106 $.nodes[1]", "NOVA203 $.nodes", "NOVA210 $.nodes[0]"]],
    [row({ id: "a" }), ["NOVA106 $.nodes[1]"]],
    [row(action("a b".replace(" ", "."))), ["NOVA110 $.nodes[1].id"]],
    [row(action(`a${"b".repeat(64)}`)), ["NOVA110 $.nodes[1].id"]],
    [row(action("_a", { type: "acton" })), ["NOVA110 $.nodes[1].id", "NOVA113 $.nodes[1].type"]],
    [row(action("a", { type: "ParallelNode" })), ["NOVA113 $.nodes[1].type"]],
    [graph([start, a, a, end], ["start > a", "a > end"]), ["NOVA111 $.nodes[2].id"]],
    [row(action("read_mail"), action("Read-Mail")), ["NOVA112 $.nodes[2].id"]],
    [row(action("step_1_1"), action("step_11")), []],
  ],
  "the code of a node": [
    [row(action("a", { code: undefined })), ["NOVA401 $.nodes[1]"]],
    [row(action("a", { code: " \n" })), ["NOVA401 $.nodes[1].code"]],
    [row(action("a", { code: ["a = 1"] })), ["NOVA401 $.nodes[1].code"]],
    [row(action("a", { code: undefined, codeFile: "a.py" })), ["NOVA401 $.nodes[1].codeFile"], { "a.py": "" }],
    [row(action("a", { codeFile: "a.py" })), ["NOVA402 $.nodes[1].codeFile"], { "a.py": "a = 1" }],
    [row(action("a", { prompt: "do" })), ["NOVA402 $.nodes[1].prompt"]],
    [row(action("a", { code: undefined, prompt: "do" })), ["NOVA403 $.nodes[1].prompt"]],
    [row(action("a", { executor: "constructor" })), ["NOVA403 $.nodes[1].executor"]],
    [row(action("a", { executor: "e2bb" })), ["NOVA403 $.nodes[1].executor"]],
    [row(action("a", { executor: "prompt" })), ["NOVA403 $.nodes[1].code"]],
    [row(prompt("a", { code: "a = 1" })), ["NOVA402 $.nodes[1].code"]],
    [row(prompt("a", { prompt: undefined })), ["NOVA401 $.nodes[1]"]],
    [row(prompt("a", { prompt: " " })), ["NOVA401 $.nodes[1].prompt"]],
    [row(prompt("a", { prompt: undefined, promptFile: "a.md" })), ["NOVA401 $.nodes[1].promptFile"], { "a.md": "\n" }],
    [row(prompt("a", { prompt: undefined, promptFile: "b.md" })), ["NOVA404 $.nodes[1].promptFile"]],
    [row(prompt("a", { promptFile: "a.md" })), ["NOVA402 $.nodes[1].promptFile"], { "a.md": "do" }],
    [row(action("a", { executor: "text", code: undefined, prompt: "do" })), []],
    [row(action("a", { executor: "text", prompt: "do" })), ["NOVA402 $.nodes[1].code"]],
    [row(action("a", { code: undefined, codeFile: "b.py" })), ["NOVA404 $.nodes[1].codeFile"], { "a.py": "a = 1" }],
    [row(action("a", { code: undefined, codeFile: "a.sh" })), ["NOVA404 $.nodes[1].codeFile"]],
    ...["../a.py", "/etc/a.py", "b/../../a.py", "C:\\a.py", "..\\a.py"].map((codeFile): [unknown, string[]] => [
      row(action("a", { code: undefined, codeFile })),
      ["NOVA405 $.nodes[1].codeFile"],
    ]),
  ],
  "the settings of a node": [
    ...[0, 86_401, "60", null].map((timeout): [unknown, string[]] => [
      row(action("a", { timeout })),
      ["NOVA406 $.nodes[1].timeout"],
    ]),
    [row(action("a", { timeout: 1 }), action("b", { timeout: 86_400 })), []],
    [row(action("a", { retry: { attempts: 2 } })), []],
    [row(action("a", { effects: false, retry: { attempts: 20, delay: "1d", max_delay: 86_400, backoff: 10 } })), []],
    [row(action("a", { effects: true, retry: { attempts: 2 } })), ["NOVA407 $.nodes[1].retry"]],
    ...Object.entries({
      attempts: [0, 21, 1.5, "3"],
      delay: [-1, 0.5, 86_401, "25h", "2 s"],
      backoff: [0.5, 11],
      max_delay: ["2d"],
      jitter: ["FULL"],
      on: ["ValueError", []],
    }).flatMap(([field, values]) =>
      values.map((value): [unknown, string[]] => [
        row(action("a", { retry: { attempts: 2, [field]: value } })),
        [`NOVA104 $.nodes[1].retry.${field}`],
      ]),
    ),
    [
      row(action("a", { retry: { attempts: 2, on: [" "] } })),
      ["NOVA104 $.nodes[1].retry.on[0]", "NOVA104 $.nodes[1].retry.on[0]"],
    ],
    ...["503", "HTTP-Error", "BudgetExceeded", "NodeRetry"].map((entry): [unknown, string[]] => [
      row(action("a", { retry: { attempts: 2, on: [entry] } })),
      ["NOVA104 $.nodes[1].retry.on[0]"],
    ]),
    ...["NodeTimout", "ConectionError", "requests.exceptions.ConectionError", "e2bTimeoutError", "http"].map(
      (entry): [unknown, string[]] => [
        row(action("a", { retry: { attempts: 2, on: ["ValueError", entry] } })),
        ["NOVA429 $.nodes[1].retry.on[1]"],
      ],
    ),
    ...[
      "requests.exceptions.ConnectionError",
      "HTTPError 503",
      "NodeInterrupted",
      "httpx.ConnectError",
      "OurOwnProblem",
      "lib.Odd",
    ].map((entry): [unknown, string[]] => [row(action("a", { retry: { attempts: 2, on: [entry] } })), []]),
    ...["CodeExecutionError", "E2BTimeoutError", "E2BSandboxError", "E2BConnectionError"].map(
      (entry): [unknown, string[]] => [row(action("a", { retry: { attempts: 2, on: [entry] } })), []],
    ),
    [row(action("a", { isolation: "none" })), ["NOVA104 $.nodes[1].isolation"]],
    [row(prompt("a", { timeout: 601 })), ["NOVA406 $.nodes[1].timeout"]],
    [row(prompt("a", { timeout: 86_401 })), ["NOVA406 $.nodes[1].timeout", "NOVA406 $.nodes[1].timeout"]],
    [row(prompt("a", { timeout: 600, executor: "cached" })), []],
    [row(prompt("a", { retry: { attempts: 5 } })), []],
    [row(prompt("a", { retry: { attempts: 6 } })), ["NOVA104 $.nodes[1].retry.attempts"]],
    [row(prompt("a", { effects: true, retry: { attempts: 2 } })), ["NOVA407 $.nodes[1].retry"]],
    [graph([{ ...start, retry: { attempts: 2 } }, end], ["start > end"]), ["NOVA105 $.nodes[0].retry"]],
    [row(action("a", { limits: { max_cost_usd: 1 } })), ["NOVA421 $.nodes[1].limits"]],
    [row(action("a", { executor: "e2b", ai: { samples: false } })), ["NOVA421 $.nodes[1].ai"]],
    [row(action("a", { network: { allow: [] }, credentials: [] })), []],
    [row(action("a", { credentials: "email" })), ["NOVA423 $.nodes[1].credentials"]],
    [row(action("a", { credentials: ["email", "E-mail"] })), ["NOVA423 $.nodes[1].credentials[1]"]],
    [row(action("a", { credentials: ["email", "email"] })), ["NOVA423 $.nodes[1].credentials"]],
    [{ ...row(action("a")), credentials: ["9"] }, ["NOVA423 $.credentials[0]"]],
    [row(action("a", { network: { allow: ["db.example.com:5432"] } })), ["NOVA424 $.nodes[1].network.allow[0]"]],
    [
      { ...row(action("a")), network: { allow: ["x.example.com", "y.example.com:22"] } },
      ["NOVA424 $.network.allow[1]"],
    ],
    [row(action("a", { network: { allow: ["example.com:443", "10.0.0.7:5432", "[::1]:22"] } })), []],
    [row(action("a", { model: "gpt-4o" })), []],
    [row(action("a", { onError: "b" }), b), []],
    [row(action("a", { onError: "end" })), []],
    [row(action("a", { onError: "nobody" })), ["NOVA206 $.nodes[1].onError"]],
    [row(action("a", { onError: "start" })), ["NOVA408 $.nodes[1].onError", "NOVA211 $.nodes[0]"]],
    [row(action("a", { onError: "a" })), ["NOVA408 $.nodes[1].onError", "NOVA211 $.nodes[1]"]],
  ],
  "the settings of prompt nodes": [
    [row(prompt("a", { model: { code_generator: "x" } })), []],
    [row(prompt("a", { model: "" })), ["NOVA104 $.nodes[1].model"]],
    [row(prompt("a", { model: {} })), ["NOVA104 $.nodes[1].model"]],
    [row(prompt("a", { model: ["x"] })), ["NOVA104 $.nodes[1].model"]],
    [row(prompt("a", { model: { code_generator: " " } })), ["NOVA104 $.nodes[1].model.code_generator"]],
    [row(prompt("a", { model: { code_genrator: "x" } })), ["NOVA105 $.nodes[1].model.code_genrator"]],
    ...[0, -1, "1", null].map((max_cost_usd): [unknown, string[]] => [
      row(prompt("a", { limits: { max_cost_usd } })),
      ["NOVA104 $.nodes[1].limits.max_cost_usd"],
    ]),
    [row(prompt("a", { limits: {} })), ["NOVA106 $.nodes[1].limits"]],
    [row(prompt("a", { limits: 1 })), ["NOVA104 $.nodes[1].limits"]],
    [row(prompt("a", { ai: { samples: "no" } })), ["NOVA104 $.nodes[1].ai.samples"]],
    [row(prompt("a", { ai: { sample: false } })), ["NOVA106 $.nodes[1].ai", "NOVA105 $.nodes[1].ai.sample"]],
    [row(prompt("a", { network: { allow: ["10.0.0.0/8", "10.1.0.0/16:5432", "[2001:db8::/32]:443"] } })), []],
    [row(prompt("a", { network: { allow: ["0.0.0.0/0"] } })), ["NOVA422 $.nodes[1].network.allow[0]"]],
    [row(prompt("a", { network: { allow: ["10.0.0.0/40"] } })), ["NOVA422 $.nodes[1].network.allow[0]"]],
    [row(prompt("a", { network: ["host"] })), ["NOVA422 $.nodes[1].network"]],
    [row(prompt("a", { network: { allow: "host" } })), ["NOVA422 $.nodes[1].network.allow"]],
    [row(prompt("a", { network: { allow: ["ok.example.com", "*"] } })), ["NOVA422 $.nodes[1].network.allow[1]"]],
    [row(each("m", [prompt("a", { timeout: 700 })])), ["NOVA406 $.nodes[1].nodes[0].timeout"]],
    [{ ...row(a), network: { allow: ["https://a.b"] } }, ["NOVA422 $.network.allow[0]"]],
    [{ ...row(a), approval: true }, ["NOVA104 $.approval"]],
    [{ ...row(a), scope: "workflow" }, ["NOVA104 $.scope"]],
    [
      { ...row(a), model: { generator: "x" }, limits: { max_cost_usd: "1" } },
      ["NOVA105 $.model.generator", "NOVA104 $.limits.max_cost_usd"],
    ],
    [row(prompt("a", { approval: "required" })), ["NOVA105 $.nodes[1].approval"]],
  ],
  "the graph": [
    [graph([a, end], ["a > end"]), ["NOVA201 $.nodes"]],
    [graph([start, { id: "s2", type: "start" }, end], ["start > end", "s2 > end"]), ["NOVA202 $.nodes[1].type"]],
    [graph([start, a], ["start > a"]), ["NOVA203 $.nodes", "NOVA210 $.nodes[1]"]],
    [
      graph([start, a, end], ["start > a", "a > start"]),
      ["NOVA204 $.edges[1].to", "NOVA209 $.nodes[2]", "NOVA211 $.nodes[0]"],
    ],
    [graph([start, end, a], ["start > end", "end > a", "a > end"]), ["NOVA205 $.edges[1].from", "NOVA211 $.nodes[1]"]],
    [graph([start, action("read"), end], ["start > raed", "read > end"]), ["NOVA206 $.edges[0].to"]],
    [graph([start, a, end], ["start > a", "a > end", "zzz > end"]), ["NOVA206 $.edges[2].from"]],
    [graph([start, a, end], ["start > a", "a > end", "a > end"]), ["NOVA207 $.edges[2]"]],
    [graph([start, a, b, end], ["start > end", "a > b", "b > end"]), ["NOVA209 $.nodes[1]"]],
    [graph([start, a, b, end], ["start > a", "start > b", "a > end", "b > end"]), []],
    [graph([start, a, b, end], ["start > a", "a > b", "b > a"]), ["NOVA209 $.nodes[3]", "NOVA211 $.nodes[1]"]],
    [
      withEdge(graph([start, d, a, end], ["start > d", "d > end: true", "d > a: false"]), {
        from: "a",
        to: "d",
        max: 3,
      }),
      ["NOVA240 $.edges[3].max"],
    ],
    [withEdge(row(a, b), { from: "b", to: "a", max: 2 }), ["NOVA240 $.edges[3].max"]],
    ...[0, 1001, 1.5, "3"].map((max): [unknown, string[]] => [
      withEdge(row(a, b), { from: "b", to: "a", max }),
      ["NOVA104 $.edges[3].max", "NOVA240 $.edges[3].max"],
    ]),
  ],
  edges: [
    [{ ...graph([start, end], []), edges: [3, { from: "start", to: "end" }] }, ["NOVA104 $.edges[0]"]],
    [{ ...graph([start, end], []), edges: [{ from: "start", to: "end", when: true }] }, ["NOVA105 $.edges[0].when"]],
    [{ ...graph([start, end], []), edges: [{ from: "start" }] }, ["NOVA106 $.edges[0]", "NOVA209 $.nodes[1]"]],
    [graph([start, end], ["start > end: null"]), ["NOVA104 $.edges[0].condition"]],
    [graph([start, end], ["start > end: true"]), ["NOVA303 $.edges[0].condition"]],
  ],
  decisions: [
    [graph([start, d, a, end], ["start > d", "a > end"]), ["NOVA301 $.nodes[1]", "NOVA209 $.nodes[2]"]],
    [graph([start, d, end], ["start > d", "d > end"]), ["NOVA301 $.edges[1]"]],
    [graph([start, d, a, b, end], [...branches, "d > a: true", "d > b: false"]), []],
    [graph([start, d, a, b, end], [...branches, 'd > a: "true"', "d > b: false"]), []],
    [graph([start, d, a, b, end], [...branches, "d > a: 1", 'd > b: "default"']), []],
    [graph([start, d, a, b, end], [...branches, "d > a: 1", "d > b: 2"]), ["NOVA302 $.nodes[1]"]],
    [graph([start, d, a, b, end], [...branches, 'd > a: "x"', 'd > b: "y"']), ["NOVA302 $.nodes[1]"]],
    [graph([start, d, a, b, end], [...branches, 'd > a: "x"', "d > b"]), ["NOVA301 $.edges[4]"]],
    [
      graph([start, d, a, b, end], [...branches, "d > a: true", 'd > b: "true"', "d > b: false"]),
      ["NOVA304 $.edges[4].condition"],
    ],
    [graph([start, d, a, b, end], [...branches, "d > a: 1", 'd > a: "1"', 'd > b: "default"']), ["NOVA207 $.edges[4]"]],
  ],
  inputs: [
    [{ ...row(a), inputs: 3 }, ["NOVA501 $.inputs"]],
    [{ ...row(a), inputs: { type: "array" } }, ["NOVA501 $.inputs.type"]],
    [{ ...row(a), inputs: { email: { type: "string" } } }, ["NOVA501 $.inputs"]],
    [{ ...row(a), inputs: { properties: { a: { type: "strng" } } } }, ["NOVA501 $.inputs.properties.a.type"]],
    [{ ...row(a), inputs: { properties: { a: { requried: [] } } } }, ["NOVA501 $.inputs"]],
    [{ ...row(a), inputs: { properties: { a: { $ref: "#/$defs/b" } } } }, ["NOVA501 $.inputs"]],
    [{ ...row(a), inputs: { properties: { a: { pattern: "(" } } } }, ["NOVA501 $.inputs"]],
    [{ ...row(a), inputs: { properties: { a: { format: "of-my-own" } } } }, []],
    [{ ...row(a), inputs: { $schema: "http://json-schema.org/draft-07/schema#", properties: {} } }, []],
    [{ ...row(a), inputs: { properties: { error: {} } } }, ["NOVA502 $.inputs.properties.error"]],
    [{ ...row(a), inputs: { properties: { $blob: {} } } }, ["NOVA502 $.inputs.properties.$blob"]],
    [{ ...row(a), inputs: { properties: { a: { type: "string", secret: true } } } }, []],
    [
      { ...row(a), inputs: { properties: { a: { properties: { b: { secret: true } } } } } },
      ["NOVA503 $.inputs.properties.a.properties.b.secret"],
    ],
    [
      { ...row(a), inputs: { $defs: { s: { secret: true } }, properties: { a: { $ref: "#/$defs/s" } } } },
      ["NOVA503 $.inputs.$defs.s.secret"],
    ],
    [{ ...row(a), inputs: { secret: true } }, ["NOVA503 $.inputs.secret"]],
    [{ ...row(wait("w", { event: { a: ["{{pin.code}}"] } })), ...secret }, ["NOVA511 $.nodes[1].event.a[0]"]],
    [{ ...row(each("m", [action("b")], [], { items: "pin" })), ...secret }, ["NOVA511 $.nodes[1].items"]],
    [{ ...row(action("a")), ...secret, labels: { pin: "of {{pin.code}}" } }, ["NOVA511 $.labels.pin"]],
    [{ ...row(action("a")), labels: { order: "{{order id}" } }, ["NOVA417 $.labels.order"]],
    [{ ...row(wait("w", { event: { a: ["{{pins}}"] } })), ...secret }, []],
  ],
};

describe.each(Object.entries(table))("the findings about %s", (_, rows) => {
  it.each(rows)("for the definition %j are %j", (definition, expected, files) => {
    expect(codesOf(definition, files)).toEqual(expected);
  });
});

it("every finding in NOVA's table of findings has one sentence that says what to do", () => {
  const all = Object.values(table).flatMap((rows) =>
    rows.flatMap(([definition, , files]) => parse(definition, files).findings),
  );
  for (const { message } of all) expect(message).toMatch(/^[^\n]+( must | - )[^\n]*(\.\.\.|[^.\n])$/);
});

describe("the example definitions in docs/findings.md", () => {
  const entries = explainedIn("findings.md");
  const files = { "read.py": "a = 1", "send.py": "b = 1", "rate.py": "c = 1" };
  const codes = (node: string) => {
    const { id, type } = JSON.parse(node);
    const way = `${id} > report${type === "approval" ? ': "default"' : ""}`;
    const around = graph([start, { id }, action("report"), end], [`start > ${id}`, way, "report > end"]);
    const text = JSON.stringify(around).replace(JSON.stringify({ id }), node);
    return new Set(parseWorkflow({ text, fileName: "w.json", files }).findings.map((one) => one.code));
  };

  it.each(entries.filter(([, { bad }]) => bad.startsWith('{ "id": ')))(
    "cause the finding %s where they are bad, and no finding where they are good",
    (code, { bad, good }) => {
      expect(codes(bad)).toContain(code);
      expect(codes(good)).toEqual(new Set());
    },
  );
});

it("the path of a finding is written as JSONPath", () => {
  expect(at("$", "nodes", 2, "timeout")).toBe("$.nodes[2].timeout");
  expect(at("$", "inputs", "a b", "$blob")).toBe('$.inputs["a b"].$blob');
});

it("the path of a finding can be split into the segments from which it was written", () => {
  const segments = fc.array(fc.oneof(fc.nat(), fc.string(), fc.constantFrom("__proto__", 'a"]["b', "0", "\\")));
  fc.assert(
    fc.property(segments, (some) => {
      expect(segmentsOf(at("$", ...some))).toEqual(some);
    }),
  );
});

const ids = ["start", "read_mail", "extract", "end"];

it.each([
  ["raed_mail", "read_mail"],
  ["Extract", "extract"],
  ["END", "end"],
  ["strat", "start"],
])("didYouMean suggests the intended name for the misspelt name %s", (wrong, meant) => {
  expect(didYouMean(wrong, ids)).toBe(` - did you mean "${meant}"?`);
});

it.each(["notify", "x", "and then", ""])(
  "didYouMean suggests no name for %j, which resembles no existing name",
  (wrong) => {
    expect(didYouMean(wrong, ids)).toBe("");
  },
);

it("didYouMean, with thousands of names, suggests only a name that differs in nothing but case", () => {
  const many = Array.from({ length: 2_001 }, (_, index) => `node_${index}`);
  expect([didYouMean("nod_7", many), didYouMean("Node_7", many)]).toEqual(["", ' - did you mean "node_7"?']);
});

it("didYouMean suggests nothing if there are no existing names", () => {
  expect(didYouMean("read", [])).toBe("");
});
