import {
  type CodeResult,
  type Ports,
  RawJson,
  type RunIo,
  type RunOutcome,
  type RunRequest,
  type TraceEntry,
} from "@nova/engine";
import type { LockedCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import type { Recorded } from "../../../packages/cli/src/api/recorded.ts";
import { proveCode } from "../../../packages/cli/src/lock/prove.ts";
import { makeFolder, promptOf, sum, twoStages } from "./folders.ts";

const quick = { logs: "", durationMs: 1 };

function recorded(
  fields: Partial<Record<keyof TraceEntry, unknown>> = {},
  before: Partial<TraceEntry>[] = [],
): Recorded {
  const entry = {
    seq: 2,
    scope: "",
    status: "success",
    input_context: new RawJson('{"lines": [1, 2]}'),
    changes: { set: new RawJson('{"total": 3}'), delete: [] },
    ...fields,
  };
  const execution = { id: "exec_01", client: "acme", root: "exec_00" };
  const origin = { execution: "exec_00", place: "sum" };
  return { execution, entry, before, origin } as unknown as Recorded;
}

const sets = (json: string): CodeResult => ({ ...quick, status: "success", set: [{ key: "total", json }], delete: [] });
const fails: CodeResult = {
  ...quick,
  status: "error",
  class: "NodeFailed",
  message: "KeyError: 'lines'",
  traceback: "",
};

/** Makes a sandbox that gives a scripted answer for each run, and records the requests that it gets. */
function sandboxWith(...answers: (CodeResult | RunOutcome | Error | ((io: RunIo) => Promise<CodeResult>))[]) {
  const asked: { calls: string[]; requests: RunRequest[]; spec?: unknown } = { calls: [], requests: [] };
  const sandboxes = {
    async create(spec: unknown) {
      asked.spec = spec;
      asked.calls.push("create");
      return { id: "sbx_1" };
    },
    async run(sandbox: string, request: RunRequest, io: RunIo): Promise<RunOutcome> {
      asked.calls.push(`run in ${sandbox}`);
      asked.requests.push(request);
      const answer = answers.shift();
      if (answer === undefined) throw new Error("no further run was expected");
      if (answer instanceof Error) throw answer;
      if (typeof answer === "function") return { kind: "finished", result: await answer(io) };
      return "kind" in answer ? answer : { kind: "finished", result: answer };
    },
    async kill(sandbox: string) {
      asked.calls.push(`kill ${sandbox}`);
    },
  };
  const blobOf = async (execution: string, sha256: string) => {
    asked.calls.push(`blob ${sha256} of ${execution}`);
    return Buffer.from("blob");
  };
  return { asked, blobOf, sandboxes: sandboxes as unknown as Ports["sandboxes"] };
}

const plain: Pick<LockedCode, "code" | "analysis"> = { code: "total = 3" };

async function prove(
  runs: Recorded[],
  { sandboxes, blobOf }: Pick<ReturnType<typeof sandboxWith>, "sandboxes" | "blobOf">,
  node: object = {},
  workflow: object = {},
  locked = plain,
) {
  const folder = await makeFolder({ sum: { ...sum, ...node } }, { workflow });
  const signal = new AbortController().signal;
  return proveCode(promptOf(folder), runs, { blobOf, sandboxes, template: "nova", locked, signal });
}

describe("a proof of locked code", () => {
  it("runs the code on each input in one sandbox without network, and ends the sandbox", async () => {
    const sandbox = sandboxWith(sets("3"), sets("3"));
    await prove([recorded(), recorded()], sandbox, {}, { requirements: [] });
    expect(sandbox.asked.calls).toEqual(["create", "run in sbx_1", "run in sbx_1", "kill sbx_1"]);
    expect(sandbox.asked.spec).toMatchObject({ template: "nova", internet: false, lib: {} });
    const [first, second] = sandbox.asked.requests;
    expect(first).toMatchObject({
      node: "sum",
      nodeType: "action",
      code: "total = 3",
      fileName: "generated/sum.py",
      timeoutSeconds: 30,
      network: { allow: [] },
      context: [{ key: "lines", json: "[1, 2]" }],
    });
    expect(first?.claim.link).not.toBe(second?.claim.link);
  });

  it.each<[string, Recorded, CodeResult, object]>([
    ["the same outputs", recorded(), sets("3"), { outcome: "same", differences: [] }],
    [
      "other outputs",
      recorded(),
      sets("4"),
      { outcome: "differs", differences: [{ key: "total", recorded: "3", now: "4" }] },
    ],
    ["a failure", recorded(), fails, { outcome: "fails", error: "KeyError: 'lines'" }],
    ["a failure, as in the recorded run", recorded({ status: "failed" }), fails, { outcome: "fails_too" }],
    [
      "a success where the recorded run failed",
      recorded({ status: "failed" }),
      sets("4"),
      { outcome: "works", differences: [] },
    ],
  ])("reports %s", async (_, run, result, told) => {
    expect(await prove([run], sandboxWith(result))).toMatchObject([{ recorded: run, ...told }]);
  });

  it("runs the analysis before the code that needs it, on the same input, and compares only the changes of the code", async () => {
    const looked: CodeResult = { ...quick, status: "success", set: [found({ result: { rows: 2 } })], delete: [] };
    const own: CodeResult = { ...quick, status: "success", set: [found(9), { key: "total", json: "3" }], delete: [] };
    const sandbox = sandboxWith(looked, own);
    const stale = new RawJson('{"lines": [], "_data_analysis": 1}');
    expect(await prove([recorded({ input_context: stale })], sandbox, {}, {}, twoStages)).toMatchObject([
      { outcome: "same", differences: [] },
    ]);
    const [look, task] = sandbox.asked.requests;
    expect(look).toMatchObject({ timeoutSeconds: 15, fileName: "generated/sum.analysis.py", network: { allow: [] } });
    expect(look?.code).toContain(JSON.stringify(twoStages.analysis));
    expect([look?.claim.step, task?.claim.step]).toEqual([-2, 0]);
    expect(task?.context).toEqual([
      { key: "lines", json: "[]" },
      { key: "_data_analysis", json: '{"rows":2}' },
    ]);
  });

  it("fails if the analysis fails, and does not run the code", async () => {
    const looked: CodeResult = { ...quick, status: "success", set: [found({ error: "KeyError: 'a'" })], delete: [] };
    const [run] = await prove([recorded()], sandboxWith(looked), {}, {}, twoStages);
    expect(run).toMatchObject({ outcome: "fails", error: "the analysis failed: KeyError: 'a'" });
  });

  it("withholds secrets from the code, and names their keys", async () => {
    const inputs = { properties: { password: { secret: true }, lines: {} } };
    const input = new RawJson('{"password": "***", "lines": []}');
    const sandbox = sandboxWith(sets("3"));
    const [run] = await prove([recorded({ input_context: input })], sandbox, {}, { inputs });
    expect(run?.withheld).toEqual(["password"]);
    expect(sandbox.asked.requests[0]?.context).toEqual([{ key: "lines", json: "[]" }]);
  });

  it("hides the recorded decision from the code of a decision", async () => {
    const sandbox = sandboxWith(sets("3"));
    const input = new RawJson('{"branch_decision": true, "lines": []}');
    await prove([recorded({ input_context: input })], sandbox, { type: "decision" });
    expect(sandbox.asked.requests[0]?.context.map(({ key }) => key)).toEqual(["lines"]);
  });

  it("reads blobs and outputs of the recorded run, and stores nothing", async () => {
    const before = [
      { node_id: "start", node_type: "start", status: "success", changes: changes("{}") },
      { node_id: "read", node_type: "action", status: "success", changes: changes('{"a": 1}') },
      { node_id: "read", node_type: "action", status: "success", changes: changes('{"a": 2}') },
      { node_id: "bad", node_type: "action", status: "failed", changes: changes('{"a": 3}') },
    ] as Partial<TraceEntry>[];
    const seen: unknown[] = [];
    const sandbox = sandboxWith(async (io) => {
      seen.push(await io.outputs("read"), await io.outputs("bad"), await io.outputNames());
      for await (const chunk of await io.openBlob({ sha256: "ab", bytes: 4, type: "bytes" })) seen.push(String(chunk));
      await io.storeBlob(
        { sha256: "cd", bytes: 4, type: "bytes" },
        (async function* () {
          yield Buffer.from("kept?");
          seen.push("read to its end");
        })(),
      );
      return sets("3");
    });
    await prove([recorded({}, before)], sandbox);
    expect(seen).toEqual(['{"a": 2}', null, ["start", "read"], "blob", "read to its end"]);
    expect(sandbox.asked.calls).toContain("blob ab of exec_01");
  });

  it.each<[string, RunOutcome | Error, RegExp]>([
    ["the sandbox is lost", { kind: "gone" }, /sandbox was lost before/],
    ["the proof is interrupted", { kind: "unfinished" }, /sandbox was lost before/],
    ["the network cannot be closed", new Error("no way to hold it"), /no way to hold it/],
  ])("ends its sandbox when %s", async (_, outcome, sentence) => {
    const sandbox = sandboxWith(outcome);
    await expect(prove([recorded()], sandbox)).rejects.toThrow(sentence);
    expect(sandbox.asked.calls.at(-1)).toBe("kill sbx_1");
  });
});

function found(answer: unknown) {
  return { key: "_data_analysis", json: JSON.stringify(answer) };
}

function changes(set: string) {
  return { set: new RawJson(set), delete: [] };
}
