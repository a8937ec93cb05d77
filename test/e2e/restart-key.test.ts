import {
  type Execution,
  type RestartRequest,
  readTrace,
  restartExecution,
  startExecution,
  type Trace,
  type WorkflowVersion,
} from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { referenceUnchanged } from "../../packages/engine/src/restart/reuse.ts";
import { inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const book = (key: string) =>
  `import os\ncontext[${JSON.stringify(key)}] = [os.environ["NOVA_RESTART_KEY"], os.environ["NOVA_IDEMPOTENCY_KEY"]]`;
/** Code that fails until a patch removes `bad` from the context. Without `bad`, it books something with its key. */
const fragile = (key: string) => `print("booked")\nif context.get("bad"): raise ValueError("bad")\n${book(key)}`;
const action = (id: string, code: string) => ({ id, type: "action", code });

async function restart({ execution }: Trace, version: WorkflowVersion, more: Partial<RestartRequest> = {}) {
  const source = await cloud.ports.executions.get(execution.id);
  if (!source) throw new TypeError("the source is gone");
  const { execution: again } = await restartExecution(cloud.ports, { source, version, by: "user:test", ...more });
  await cloud.untilEnd(again.id);
  return readTrace(cloud.ports, again.id, { full: true });
}

const valuesOf = ({ context }: Trace) => JSON.parse(context.text);
const good = { patch: '{"bad": false}' };

describe("the restart key of a node, which is the same in all restarts of a run,", { timeout: 60_000 }, () => {
  it("stays the same in a restart of a restart, while the idempotency key differs in each run", async () => {
    const version = await cloud.publish(inARow("booking", { first: book("first"), second: fragile("second") }));
    const failed = await cloud.run(version, '{"bad": true}');
    const [once, twice] = [await restart(failed, version, good), await restart(failed, version, good)];
    const third = await restart(once, version, { from: "first" });
    const { id } = failed.execution;
    const runs = [once, twice, third].map(valuesOf);
    expect(runs.map(({ second: [key] }) => key)).toEqual([`${id}+second`, `${id}+second`, `${id}+second`]);
    expect(runs.map(({ first: [key] }) => key)).toEqual([`${id}+first`, `${id}+first`, `${id}+first`]);
    expect(new Set(runs.map(({ second: [, own] }) => own)).size).toBe(3);
    expect(third.entries[0]?.origin).toEqual({ execution_id: id, place: "" });
    expect(await verified(cloud, third)).toBe("anchored");
  });

  it("stays the same if the restart runs a version with more nodes before this node", async () => {
    const version = await cloud.publish(inARow("longer", { book: fragile("key") }));
    const failed = await cloud.run(version, '{"bad": true}');
    const longer = await cloud.publish(inARow("longer", { check: "pass", log: "pass", book: book("key") }));
    const [key] = valuesOf(await restart(failed, longer)).key;
    expect(key).toBe(`${failed.execution.id}+book`);
  });

  it("differs for each item of a map and for each visit of a loop", async () => {
    const loop = {
      nodes: [
        action("book", `${book("key")}\ncontext["keys"] = context.get("keys", []) + [context["key"][0]]`),
        { id: "more", type: "decision", code: 'context["branch_decision"] = len(context["keys"]) < 3' },
        action("sum", fragile("own")),
      ],
      edges: [
        { from: "book", to: "more" },
        { from: "more", to: "book", condition: "true", max: 5 },
        { from: "more", to: "sum", condition: "default" },
        { from: "more", to: "sum", condition: "false" },
      ],
    };
    const each = { id: "each", type: "map", items: "list", as: "item", into: "all", ...loop };
    const flow = {
      id: "visits",
      nodes: [{ id: "start", type: "start" }, each, { id: "end", type: "end" }],
      edges: [
        { from: "start", to: "each" },
        { from: "each", to: "end" },
      ],
    };
    const version = await cloud.publish(flow);
    const failed = await cloud.run(version, '{"list": [1, 2], "bad": true}');
    expect(failed.execution.status).toBe("failed");
    const { id } = failed.execution;
    const trace = await restart(failed, version, good);
    const all: { keys: string[]; own: string[] }[] = valuesOf(trace).all;
    const visits = (item: number) => ["", ".2", ".3"].map((visit) => `${id}+each@${item}+book${visit}`);
    expect(all.map(({ keys }) => keys)).toEqual([visits(0), visits(1)]);
    expect(all.map(({ own: [key] }) => key)).toEqual([`${id}+each@0+sum`, `${id}+each@1+sum`]);
    const again = await restart(trace, version, { from: "each[1].book#2" });
    expect(valuesOf(again).all.map(({ keys }: { keys: string[] }) => keys)).toEqual([visits(0), visits(1)]);
  });

  it("contains the place of the workflow node in the outer run, even if a restart continues inside the inner run", async () => {
    await cloud.publish(inARow("ledger", { open: book("open"), post: fragile("post") }));
    const calls = { type: "workflow", workflow: "ledger", output: { open: "open", post: "post" } };
    const version = await cloud.publish(inARow("accounting", { bill: calls }));
    const failed = await cloud.run(version, '{"bad": true}');
    const trace = await restart(failed, version, good);
    const { id } = failed.execution;
    expect(valuesOf(trace)).toMatchObject({
      open: [`${id}+bill+open`, expect.any(String)],
      post: [`${id}+bill+post`, expect.any(String)],
    });
  });

  it("differs in a new run, even if that run reuses outcomes", async () => {
    const version = await cloud.publish(inARow("fresh", { book: book("key") }));
    const [one, other] = [await cloud.run(version, "{}"), await cloud.run(version, "{}")];
    expect(valuesOf(one).key[0]).toBe(`${one.execution.id}+book`);
    expect(valuesOf(other).key[0]).toBe(`${other.execution.id}+book`);
    const source = one.execution as Execution;
    const outcomes = await referenceUnchanged(cloud.ports, source, {}, []);
    const { id } = await startExecution(cloud.ports, { version, context: "{}", outcomes });
    await cloud.untilEnd(id);
    expect(valuesOf(await readTrace(cloud.ports, id)).key[0]).toBe(`${id}+book`);
  });
});
