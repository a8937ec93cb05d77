import {
  answerTask,
  cancelExecution,
  readTrace,
  restartExecution,
  sha256,
  startExecution,
  type Trace,
} from "@nova/engine";
import { eraseExecution, makeProof, proveClosedRuns, type ServicePorts } from "@nova/service";
import { verifyProof } from "@nova/verify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { leafAt, withLeaf } from "../support/forging/edits.ts";
import { type Item, RawTable } from "../support/forging/raw-table.ts";
import { type Answers, answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
let cloud: TestCloud;
let ports: ServicePorts;
let server: ModelServer;
let answers: Answers = {};

beforeAll(async () => {
  server = await modelServer((request) => answering(answers, request));
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
  ports = cloud.service;
});

afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

type Level = Parameters<typeof makeProof>[3];

interface Content {
  text?: string;
  blob?: true;
  withheld?: string;
}

interface ProofFile {
  runs: {
    execution: string;
    erasure?: string;
    definition?: string;
    scopes: {
      scope: string;
      entries: { head: string; steps?: { text: string | null }[]; contents: Record<string, Content> }[];
    }[];
  }[];
  blobs?: Record<string, string | Content>;
}

type ProvedRun = ProofFile["runs"][number];

async function textOf(id: string, level: Level): Promise<string> {
  const made = await makeProof(ports, admin, id, level);
  if ("text" in made) return made.text;
  const answer = await fetch(made.url);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Makes the proof of a run in its three forms and expects each to be valid. Returns the form with all contents. */
async function proved(id: string) {
  for (const level of ["none", "digests"] as const) {
    const text = await textOf(id, level);
    expect(await verifyProof(text)).toMatchObject({ state: "valid", contents: { checked: 0, withheld: 0, erased: 0 } });
    expect(JSON.parse(text)).toMatchObject({ contents: level });
    expect(JSON.parse(text)).not.toHaveProperty("blobs");
  }
  const text = await textOf(id, "all");
  const verdict = await verifyProof(text);
  expect(verdict).toMatchObject({ state: "valid", execution: id });
  const file = JSON.parse(text) as ProofFile;
  const [run] = file.runs as [ProvedRun];
  return { ...verdict, text, file, run, blobs: Object.values(file.blobs ?? {}), main: mainOf(run) };
}

const idOf = ({ execution }: Trace) => execution.id;

/** Returns the hashed fields of the entries on the main line. */
function mainOf(run: ProvedRun) {
  const { entries = [] } = run.scopes[0] ?? {};
  return entries.map(
    ({ head }) => JSON.parse(head) as { node_type: string; sealed?: true; close?: { status: string } },
  );
}

describe("the proof of a run", { timeout: 120_000 }, () => {
  it("contains values, code and large values, but no value above 1 MB", async () => {
    const trace = await cloud.run(
      await cloud.publish(
        inARow("sizes", {
          small: "context['exact'] = 850.0\nprint('said')",
          large: "context['text'] = 'x' * 90_000\ncontext['list'] = [['y' * 50_000], 12345678901234567890]",
          huge: "context['huge'] = 'z' * 2_000_000\ncontext['raw'] = bytes(10)",
          many: "for i in range(300): context[f'key{i}'] = 'v' * 300",
          after: "context['last'] = 1",
        }),
      ),
    );
    const { blobs, run } = await proved(idOf(trace));
    expect(blobs.filter((blob) => typeof blob !== "string")).toEqual([{ withheld: "size" }]);
    expect(blobs).toContain(Buffer.from("x".repeat(90_000)).toString("base64"));
    expect(run.definition).toContain("context['exact'] = 850.0");
  });

  it("contains the steps in which models were called", { tags: ["deep"] }, async () => {
    answers = { code: ["context['total'] = sum(context['lines'])"] };
    const version = await cloud.publish(
      inARow("written", {
        work: { executor: "prompt", prompt: "Add up the lines." },
        tell: { executor: "text", prompt: "Say {work.total}.", into: "told" },
        fragile: { code: "raise ValueError('no')", retry: { attempts: 2, delay: 0 }, effects: false, onError: "end" },
      }),
    );
    const trace = await cloud.run(version, '{"lines":[19.5,3]}');
    const { run } = await proved(idOf(trace));
    const steps = run.scopes[0]?.entries.map(({ steps = [] }) => steps.length);
    expect(steps).toEqual([0, 5, 1, 2, 0, 0]);
  });

  it("contains branches, nested forks, items, loops and failures", { tags: ["deep"] }, async () => {
    const version = await cloud.publish({
      id: "shapes",
      nodes: [
        { id: "start", type: "start" },
        { id: "split", type: "action", code: "context['a'] = 1" },
        { id: "left", type: "action", code: "context['l'] = 1" },
        { id: "up", type: "action", code: "context['u'] = 1" },
        { id: "down", type: "action", code: "context['d'] = 1" },
        { id: "meet", type: "action", code: "context['m'] = 1" },
        { id: "right", type: "action", code: "context['r'] = 1" },
        {
          id: "each",
          type: "map",
          items: "list",
          as: "item",
          into: "all",
          tolerated_failures: 1,
          nodes: [
            { id: "one", type: "action", code: "if context['item'] == 2: raise ValueError('two')\ncontext['x'] = 1" },
            { id: "two", type: "action", code: "context['y'] = 2" },
            { id: "three", type: "action", code: "context['z'] = 3" },
            { id: "last", type: "action", code: "context['w'] = 3" },
          ],
          edges: [
            { from: "one", to: "two" },
            { from: "one", to: "three" },
            { from: "two", to: "last" },
            { from: "three", to: "last" },
          ],
        },
        { id: "many", type: "map", items: "numbers", nodes: [{ id: "same", type: "action", code: "pass" }], edges: [] },
        { id: "none", type: "map", items: "empty", nodes: [{ id: "never", type: "action", code: "pass" }], edges: [] },
        { id: "count", type: "action", code: "context['n'] = context.get('n', 0) + 1" },
        { id: "enough", type: "decision", code: "context['branch_decision'] = context['n'] < 3" },
        { id: "breaks", type: "action", code: "raise ValueError('no')", onError: "after" },
        { id: "after", type: "action", code: "context['seen'] = context['error']['class']" },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "split" },
        { from: "split", to: "left" },
        { from: "split", to: "right" },
        { from: "left", to: "up" },
        { from: "left", to: "down" },
        { from: "up", to: "meet" },
        { from: "down", to: "meet" },
        { from: "meet", to: "each" },
        { from: "right", to: "each" },
        { from: "each", to: "many" },
        { from: "many", to: "none" },
        { from: "none", to: "count" },
        { from: "count", to: "enough" },
        { from: "enough", to: "count", condition: true, max: 10 },
        { from: "enough", to: "breaks", condition: false },
        { from: "breaks", to: "end" },
        { from: "after", to: "end" },
      ],
    });
    const list = Array.from({ length: 6 }, (_, i) => i);
    const trace = await cloud.run(
      version,
      JSON.stringify({ list, numbers: Array.from({ length: 60 }, (_, i) => i), empty: [] }),
    );
    expect(trace.execution.status).toBe("completed");
    const { run } = await proved(idOf(trace));
    expect(run.scopes).toHaveLength(1 + 2 + 2 + 6 + 5 * 2 + 60);
  });

  it("contains an approval and a wait, but cannot be made before the end of the run", async () => {
    const version = await cloud.publish({
      id: "asked",
      nodes: [
        { id: "start", type: "start" },
        { id: "ask", type: "approval", message: "Go on?" },
        { id: "pause", type: "wait", seconds: 1 },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "ask" },
        { from: "ask", to: "pause", condition: "approved" },
        { from: "ask", to: "end", condition: "rejected" },
        { from: "pause", to: "end" },
      ],
    });
    const { id } = await startExecution(ports, { version, context: "{}" });
    await new Promise<void>((done) => void cloud.untilEnd(id, ({ state }) => state === "waiting" && done()));
    await expect(textOf(id, "digests")).rejects.toThrow(`execution "${id}" is open - its proof exists after its end`);
    const [task] = await ports.tasks.ofExecution(id);
    await answerTask(ports, { execution: id, task: task?.id ?? "", choice: "approved", by: "ann", from: "test" });
    await cloud.untilEnd(id);
    const { main } = await proved(id);
    expect(main.map(({ node_type }) => node_type)).toEqual(["start", "approval", "wait", "end", "close"]);
  });

  it("contains the entries before a failure or a cancel of the run", async () => {
    const failed = await cloud.run(await cloud.publish(inARow("fails", { work: "raise ValueError('no')" })));
    expect((await proved(idOf(failed))).main.at(-1)?.close?.status).toBe("failed");
    const sleeps = "import time\ntime.sleep(60)";
    const version = await cloud.publish({
      id: "cancelled",
      nodes: [
        { id: "start", type: "start" },
        { id: "quick", type: "action", code: "pass" },
        { id: "slow", type: "action", code: sleeps },
        { id: "end", type: "end" },
      ],
      edges: ["quick", "slow"].flatMap((id) => [
        { from: "start", to: id },
        { from: id, to: "end" },
      ]),
    });
    const { id } = await startExecution(ports, { version, context: "{}" });
    await new Promise((done) => setTimeout(done, 1500));
    await cancelExecution(ports, id);
    await cloud.untilEnd(id);
    expect((await proved(id)).main.at(-1)?.close?.status).toBe("cancelled");
  });

  it("contains the inner runs, and names the entries that the run reuses", async () => {
    await cloud.publish(inARow("inner", { work: "context['x'] = context['item'] * 2" }));
    const call = { type: "workflow", workflow: "inner", input: { item: "item" }, output: { x: "x" } };
    const version = await cloud.publish(
      inARow("outer", {
        each: {
          type: "map",
          items: "list",
          as: "item",
          into: "all",
          nodes: [{ id: "call", ...call }],
          edges: [],
        },
        first: { type: "workflow", workflow: "inner", input: { item: "n" }, output: { y: "x" } },
        breaks: "if context['bad']: raise ValueError('bad')",
      }),
    );
    const failed = await cloud.run(version, '{"list":[1,2,3],"n":5,"bad":true}');
    const before = await proved(idOf(failed));
    expect(before.covers).toHaveLength(5);
    expect(before.names).toEqual([]);
    expect(before.file.runs.map((run) => "definition" in run)).toEqual([true, true, false, false, false]);
    const [, inner = ""] = before.covers;
    expect((await proved(inner)).covers).toEqual([inner]);

    const { execution } = await restartExecution(ports, {
      source: failed.execution,
      version,
      by: "ann",
      patch: '{"bad":false}',
    });
    await cloud.untilEnd(execution.id);
    expect((await readTrace(ports, execution.id)).execution.status).toBe("completed");
    const after = await proved(execution.id);
    expect(after.names).toEqual([
      { execution: idOf(failed), relation: "restarts" },
      { execution: idOf(failed), relation: "reuses" },
    ]);

    expect(after.covers).toHaveLength(5);
  });

  it("can also be made for a test run whose outcomes come from a document", async () => {
    const version = await cloud.publish(inARow("given", { one: "context['a'] = 1", two: "context['b'] = 2" }));
    const document = '{"one":{"set":{"a":5}}}';
    const { id } = await startExecution(ports, {
      version,
      context: "{}",
      outcomes: { document, sealed: true },
    });
    await cloud.untilEnd(id);
    expect((await proved(id)).main[0]?.sealed).toBe(true);
  });

  it("shows that contents were erased", async () => {
    answers = { code: ["context['total'] = 1"] };
    const version = await cloud.publish(
      inARow("erased", { work: { executor: "prompt", prompt: "Count." }, big: "context['b'] = 'x' * 90_000" }),
    );
    const trace = await cloud.run(version);
    await eraseExecution(ports, trace.execution);
    const { run, contents, file } = await proved(idOf(trace));
    expect(run.erasure).toEqual(expect.any(String));
    expect(contents).toMatchObject({ checked: 0, withheld: 0 });
    expect(contents.erased).toBeGreaterThan(10);
    expect(file.blobs).toEqual({});
  });

  it("withholds every content that contains a secret input", async () => {
    const secret = "hunter2-Passw0rd";
    const long = `long-${"s3cr3t ".repeat(2000)}`;
    const inputs = {
      properties: {
        password: { type: "string", secret: true },
        document: { type: "string", secret: true },
        nested: { type: "object", secret: true },
      },
    };
    const version = await cloud.publish(
      inARow(
        "guarded",
        {
          one: "print(context['password'])\ncontext['n'] = len(context['document'])",
          many: "for i in range(300): context[f'key{i}'] = 'v' * 300",
          two: "context['m'] = 1",
        },
        { inputs },
      ),
    );
    const trace = await cloud.run(
      version,
      JSON.stringify({
        password: secret,
        document: long,
        nested: { parts: [long, "x".repeat(20_000)] },
        plain: "y".repeat(30_000),
        twice: secret,
      }),
    );
    expect(trace.execution.status).toBe("completed");
    const { text, run, blobs } = await proved(idOf(trace));
    const bytes = blobs.map((blob) => (typeof blob === "string" ? Buffer.from(blob, "base64").toString() : ""));
    for (const part of [secret, "s3cr3t", Buffer.from(secret).toString("base64").slice(0, 12)])
      expect([text, ...bytes].filter((one) => one.includes(part))).toEqual([]);
    const contexts = run.scopes[0]?.entries.map(({ contents }) => contents.context);
    expect(contexts?.slice(0, 2)).toEqual([{ withheld: "secret" }, { withheld: "secret" }]);
    expect(contexts?.at(-2)).toEqual({ text: expect.stringContaining('["m",3,"1"]') });
    expect(blobs).toEqual([{ withheld: "secret" }]);
  });

  it("contains the root of the Merkle tree with the run, and the path from the run to the root", async () => {
    const trace = await cloud.run(await cloud.publish(inARow("rooted", { one: "pass" })));
    expect(await proved(idOf(trace))).toMatchObject({ root: null });
    await proveClosedRuns(ports);
    const { root, stamp } = await proved(idOf(trace));
    expect(root).toEqual({ number: expect.any(Number), at: expect.any(String) });
    expect(stamp).toBeNull();
  });
});

describe("the proof of a run whose stored items were changed", { timeout: 120_000 }, () => {
  let items: Item[];
  let id: string;
  let table: RawTable;
  const itemAt = (sk: string) => items.find((item) => item.sk?.S === sk) as Item;
  const link = (seq: number, scope = "") => `L#${scope}#${String(seq).padStart(10, "0")}#1`;
  const stored = (sk: string, name: string) => leafAt(itemAt(sk), [name])?.S ?? "";

  beforeAll(async () => {
    answers = { code: ["context['total'] = 1"] };
    table = new RawTable();
    const body = { nodes: [{ id: "one", type: "action", code: "context['x'] = 1" }], edges: [] };
    const each = { type: "map", items: "list", ...body };
    const version = await cloud.publish(inARow("changed", { each, work: { executor: "prompt", prompt: "Count." } }));
    id = idOf(await cloud.run(version, '{"list":[1,2]}'));
    items = await table.itemsOf(id);
  });

  const change = (sk: string, path: string[], leaf: string) => [withLeaf(itemAt(sk), path, { S: leaf })];
  const reseal = (sk: string, from: string, to: string) => {
    const head = stored(sk, "head").replace(from, to);
    expect(head).not.toBe(stored(sk, "head"));
    return [withLeaf(withLeaf(itemAt(sk), ["head"], { S: head }), ["hash"], { S: sha256(head) })];
  };
  const otherSignature = () => {
    const signature = stored(link(5), "signature").replace(/.{2}$/, (end) => (end === "AA" ? "BA" : "AA"));
    return change(link(5), ["signature"], signature);
  };
  const otherStep = () => {
    const step = items.find(({ sk }) => sk?.S?.startsWith("S#")) as Item;
    return change(step.sk?.S as string, ["text"], (step.text?.S ?? "").replace("success", "failed"));
  };
  const withoutContext = () => [withLeaf(itemAt(link(3)), ["contents", "context"], undefined)];

  it.each<[string, string, Level, { seq?: number; scope?: string }, () => Item[]]>([
    ["a head with another time", "prev", "none", { seq: 2 }, () => reseal(link(1), '"timestamp":"2', '"timestamp":"1')],
    ["a head that is no JSON", "head", "none", { seq: 3 }, () => change(link(3), ["head"], "{")],
    ["a close entry with another status", "close", "none", { seq: 5 }, () => reseal(link(5), '"count":8', '"count":7')],
    ["a signature of another text", "signature", "none", {}, otherSignature],
    [
      "an item that ends otherwise",
      "join",
      "none",
      { seq: 2 },
      () => reseal(link(1, "/each@1.1"), '"timestamp":"2', '"timestamp":"1'),
    ],
    ["another context", "contents", "all", { seq: 3 }, () => change(link(3), ["contents", "context", "text"], "{}")],
    ["another record of a step", "steps", "digests", { seq: 3 }, otherStep],
    ["a context that was taken away without a note", "contents", "all", { seq: 3 }, withoutContext],
  ])("is refused because of %s", async (_what, code, level, place, tamper) => {
    const changed = tamper();
    await table.put(changed);
    try {
      const { state, problem } = await verifyProof(await textOf(id, level));
      expect({ state, problem }).toMatchObject({ state: "broken", problem: { code, ...place } });
    } finally {
      await table.put(changed.map(({ sk }) => itemAt(sk?.S ?? "")));
    }
  });

  it("is valid again after the stored items were restored", async () => {
    expect(await verifyProof(await textOf(id, "all"))).toMatchObject({ state: "valid" });
  });
});
