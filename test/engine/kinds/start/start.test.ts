import {
  beginExecution,
  cancelExecution,
  freshProblem,
  promptNodes,
  type StartRequest,
  startExecution,
  sweep,
} from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { referenceText } from "../../../../packages/engine/src/context/references.ts";
import { InputsRefused, refuseMisfits } from "../../../../packages/engine/src/kinds/start/start.ts";
import { sha256 } from "../../../../packages/engine/src/sha256.ts";
import { contextAt } from "../../../support/engine/context-at.ts";
import { action, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { World } from "../../../support/engine/world.ts";

const inputs = { properties: { amount: { type: "number" }, pdf: { type: "string" } }, required: ["amount", "pdf"] };
const one = flow("one", [action("a")], lines("start > a > end"));

async function started(request: Partial<StartRequest>, workflow = one) {
  const world = new World();
  const version = world.publish(workflow);
  const record = await startExecution(world.ports(atOnce), { version, context: "{}", ...request });
  const context = await contextAt(world.ports(atOnce), { execution: record.id, scope: "", seq: 0 });
  return { world, record, context };
}

const fileOf = (key: string, text: string) => ({
  key,
  sha256: sha256(text),
  bytes: Buffer.byteLength(text),
  open: async function* () {
    yield Buffer.from(text);
  },
});

describe("the start of a run", () => {
  it.each(["12345678901234567890", "850.0", '"ünï 😀"', "[ 1.10 ]", '{"a":{"b":-0}}', "1e400"])(
    "gives the value %s to the run with exactly the text that the caller sent",
    async (json) => {
      const { context } = await started({ context: ` { "x" : ${json} } ` });
      expect(context.get("x")).toBe(json);
    },
  );

  it("starts no state machine if the run must wait in a queue, and a sweep also starts no state machine", async () => {
    const queue = { pools: ["W#one"], admission: "" };
    const { world, record } = await started({ queue });
    expect(record).toMatchObject({ ...queue, status: "queued", open: true });
    world.clock.advance(60_000);
    expect(await sweep(world.ports(atOnce))).toMatchObject({ restarted: [], closed: [], failed: [] });
    expect(world.machines.size).toBe(0);
    await beginExecution(world.ports(atOnce), record);
    expect(world.machines.has(record.id)).toBe(true);
  });

  it("that must wait in a queue can be cancelled, and then the close of the run comes before any node", async () => {
    const { world, record } = await started({ queue: { pools: ["W#one"], admission: "" } });
    expect(await cancelExecution(world.ports(atOnce), record.id)).toMatchObject({ status: "cancelled" });
    expect(world.record(record.id)).toMatchObject({
      ...{ status: "cancelled", open: false, nodes: 0 },
      error: { class: "ExecutionClosed", message: "the execution was cancelled while it was queued" },
    });
  });

  it("writes the first entry and the record of the run, and starts the state machine", async () => {
    const { world, record } = await started({ client: "acme" });
    expect(record).toMatchObject({ status: "running", open: true, client: "acme", root: record.id, workflowId: "one" });
    expect(record.id).toMatch(/^exec_[0-9A-Z]{26}$/);
    expect(world.record(record.id)).toEqual(record);
    expect(JSON.parse(world.machines.get(record.id)?.input ?? "")).toEqual({
      execution: { id: record.id, workflowId: "one", version: 1 },
      scope: "",
      client: "acme",
      seq: 0,
    });
    expect(world.chain.entriesOf(record.id).map(({ head }) => JSON.parse(head))).toMatchObject([
      { node_type: "start", seq: 0, prev: null, path_taken: "a" },
    ]);
  });

  it("with an id that was used before returns the existing run with that id, and the version of this run", async () => {
    const world = new World();
    const id = `exec_${"0".repeat(26)}`;
    const first = await startExecution(world.ports(atOnce), { id, version: world.publish(one), context: '{"n": 1}' });
    const again = { id, version: world.publish(one, 2), context: '{"n": 2}' };
    await world.clock.port(atOnce).sleep(5000);
    expect(await startExecution(world.ports(atOnce), again)).toEqual(first);
    expect(world.record(id)).toEqual(first);
    const context = await contextAt(world.ports(atOnce), { execution: id, scope: "", seq: 0 });
    expect(context.get("n")).toBe("1");
  });

  it("streams uploaded files into blobs and sets the keys of the files in the context to these blobs", async () => {
    const { world, context } = await started({ context: '{"a":1}', files: [fileOf("pdf", "%PDF")] });
    expect(context.get("pdf")).toBe(referenceText({ sha256: sha256("%PDF"), bytes: 4, type: "bytes" }));
    expect(Array.from(world.blobs.blobs.values(), String)).toEqual(["%PDF"]);
  });

  it("escapes a value that only looks like a reference to a blob", async () => {
    const { context } = await started({
      context: `{"x":${referenceText({ sha256: "a".repeat(64), bytes: 1, type: "text" })}}`,
    });
    expect(context.get("x")).toMatch(/^{"\$\$blob":/);
  });

  it("gives ascending ids to executions that start in one millisecond", async () => {
    const world = new World();
    const version = world.publish(one);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await startExecution(world.ports(atOnce), { version, context: "{}" })).id);
    expect(ids).toEqual(ids.toSorted());
  });
});

describe("an initial context of a run", () => {
  it.each([
    ["it lacks a required input", '{"pdf":"x"}', [], /has no "amount"/],
    ["an input has another type than the workflow declares", '{"amount":"x","pdf":"x"}', [], /amount/],
    ["it is not JSON", "{", [], /not JSON/],
    [
      "it has a key that NOVA uses to mark references",
      '{"amount":1,"pdf":"","$blob":{}}',
      [],
      /has the key "\$blob" - such keys mark/,
    ],
    [
      "a key that NOVA uses to mark references is written with escapes",
      '{"amount":1,"pdf":"","\\u0024a":1}',
      [],
      /has the key "\$a"/,
    ],
    [
      "the key of an uploaded file is one that NOVA uses to mark references",
      '{"amount":1,"pdf":""}',
      [fileOf("$f", "x")],
      /has the key "\$f"/,
    ],
    ["it is not an object", "[1]", [], /not a JSON object/],
    [
      "it is nested too deep",
      `{"amount":1,"pdf":"","x":${"[".repeat(501)}${"]".repeat(501)}}`,
      [],
      /nested more than 500 levels/,
    ],
  ])("is refused before the run starts if %s", async (_what, context, files, message) => {
    const world = new World();
    const version = world.publish({ ...one, inputs });
    const refused = startExecution(world.ports(atOnce), { version, context, files });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toBeInstanceOf(InputsRefused);
    expect([world.executions.records.size, world.chain.places.size, world.machines.size]).toEqual([0, 0, 0]);
  });

  it("is accepted if the value of a required key is an uploaded file", async () => {
    const { context } = await started({ context: '{"amount":1}', files: [fileOf("pdf", "x")] }, { ...one, inputs });
    expect(context.slots().length).toBe(2);
  });
});

const written = flow(
  "written",
  [prompted(action("a")), action("b"), prompted(action("c"))],
  lines("start > a > b > c > end"),
);
const byHand: Pick<Workflow, "nodes"> = { nodes: written.nodes.filter(({ id }) => id === "b") };

describe("the list `fresh` of the nodes that get new code, in the request that starts a run,", () => {
  it("can name prompt nodes", () => {
    expect(promptNodes(written)).toEqual(["a", "c"]);
    expect(freshProblem(written, { fresh: ["c", "a"] })).toBeNull();
  });

  it("can be empty or left out, even in a frozen run", () => {
    expect(freshProblem(written, { frozen: true })).toBeNull();
    expect(freshProblem(written, { fresh: [], frozen: true })).toBeNull();
  });

  it.each([
    [
      "names a node although the run is frozen and asks no model",
      written,
      { fresh: ["a"], frozen: true },
      /frozen run asks no model.*leave out/,
    ],
    [
      "names a node whose code an author wrote",
      written,
      { fresh: ["a", "b"] },
      /no prompt node "b".*its prompt nodes are a, c/,
    ],
    ["names a node that the workflow does not have", written, { fresh: ["bills"] }, /no prompt node "bills"/],
    ["names a node of a workflow without prompts", byHand, { fresh: ["b"] }, /this workflow has none/],
  ])("is refused if it %s", (_what, workflow, request, sentence) => {
    expect(freshProblem(workflow, request)).toMatch(sentence);
  });
});

const either = { anyOf: [{ required: ["email"] }, { required: ["mail"] }], properties: { email: { type: "object" } } };
const asking = JSON.parse('{"if":{"required":["mail"]},"then":{"required":["x"]}}');
const text = { type: "string" };

describe("an uploaded file for the input `mail`", () => {
  it.each([
    ["counts as one of several alternative required keys", either, "{}"],
    ["counts as the required key", { required: ["mail"], properties: { mail: text } }, "{}"],
    ["is not checked against the type in `oneOf`", { oneOf: [{ properties: { mail: text } }] }, "{}"],
    [
      "is not checked against the type in `allOf`",
      { allOf: [{ properties: { mail: text }, required: ["mail"] }] },
      "{}",
    ],
    ["is not checked against the type in `additionalProperties`", { additionalProperties: text }, '{"a":"x"}'],
    ["is not checked against the type in `patternProperties`", { patternProperties: { "^mail": text } }, "{}"],
    ["makes its dependent keys required", { dependentRequired: { mail: ["host"] } }, '{"host":"x"}'],
    [
      "is not checked against the type in `dependentSchemas`",
      { dependentSchemas: { mail: { properties: { mail: text } } } },
      "{}",
    ],
    [
      "counts as a present key for an `if` in the schema",
      { if: { required: ["mail"] }, else: { required: ["email"] } },
      "{}",
    ],
    ["counts as a present key for `minProperties` in the schema", { minProperties: 2 }, '{"a":1}'],
  ])("%s", async (_what, inputs, context) => {
    await expect(refuseMisfits({ inputs }, context, ["mail"])).resolves.toBeUndefined();
  });

  it.each([
    [
      "without the key that `dependentRequired` demands",
      { dependentRequired: { mail: ["host"] } },
      "{}",
      /must have property host/,
    ],
    ["if an `if` in the schema then requires another key, which is missing", asking, "{}", /has no "x"/],
    ["if the schema forbids the key `mail`", { properties: { mail: false } }, "{}", /boolean schema is false/],
    ["if the schema forbids the key `mail` with `not`", { not: { required: ["mail"] } }, "{}", /must NOT be valid/],
    ["if another key has a wrong type", { anyOf: [{ properties: { a: text } }] }, '{"a":1}', /must be string/],
    ["if the context in the same request is not JSON", either, "{", /is not JSON/],
  ])("is refused %s", async (_what, inputs, context, message) => {
    const refused = refuseMisfits({ inputs }, context, ["mail"]);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(InputsRefused);
  });
});

it("a context without a file is refused if every alternative of the schema requires a missing key", async () => {
  await expect(refuseMisfits({ inputs: either }, "{}", [])).rejects.toThrow(/has no "mail"/);
});
