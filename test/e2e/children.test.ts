import { DynamoDBClient, PutItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { cancelExecution, readTrace, startExecution, verifyExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
});

const calls = (workflow: string, fields: object = {}) => ({ type: "workflow", workflow, ...fields });

it("a workflow node runs another workflow with inputs and outputs of any size", async () => {
  const sum = 'context["total"] = sum(context["invoice"]["lines"])\ncontext["copy"] = context["text"] * 2';
  await cloud.publish(inARow("sums", { sum }));
  const version = await cloud.publish(
    inARow("mails", {
      read: 'context["email"] = {"invoice": {"lines": [1, 2, 12345678901234567890]}}\ncontext["text"] = "x" * 90_000',
      bill: calls("sums", {
        input: { invoice: "email.invoice", text: "text" },
        output: { total: "total", copy: "copy", all: "$" },
      }),
      check: `
context["exact"] = context["total"] == 12345678901234567893
context["length"] = len(context["copy"])
context["keys"] = list(context["all"])
context["same"] = outputs["bill"]["copy"] == context["all"]["copy"]`,
    }),
  );
  const trace = await cloud.run(version);
  expect(JSON.parse(entryOf(trace, "check").changes.set.text)).toEqual({
    exact: true,
    length: 180_000,
    same: true,
    keys: ["invoice", "text", "total", "copy"],
  });
  expect(await verified(cloud, trace)).toBe("anchored");
  const { child } = entryOf(trace, "bill");
  expect(child).toMatchObject({ workflow: "sums", version: 1 });
  expect(child?.entries?.map(({ node_id }) => node_id)).toEqual(["start", "sum", "end", "(close)"]);
  const { execution } = await readTrace(cloud.ports, child?.execution_id ?? "");
  const parent = { execution: trace.execution.id, scope: "", seq: 2, depth: 1 };
  expect(execution).toMatchObject({ status: "completed", root: trace.execution.id, parent });
});

describe("an inner run that fails", () => {
  it("fails the workflow node that started it, and the outer run, with the same error", async () => {
    await cloud.publish(inARow("broken", { work: 'raise ValueError("no total")' }));
    const { execution } = await cloud.run(await cloud.publish(inARow("calls-broken", { bill: calls("broken") })));
    expect(execution).toMatchObject({ status: "failed", error: { node: "bill", class: "NodeFailed" } });
    expect(execution.error?.message).toMatch(/^workflow "broken" \(exec_\w+\) failed: node "work": .*no total/);
  });

  it("makes the outer run continue at the onError of the workflow node", async () => {
    await cloud.publish(inARow("late", { work: { code: "import time\ntime.sleep(60)", timeout: 1 } }));
    const report = 'context["seen"] = error["class"] if (error := context["error"]) else None';
    const version = await cloud.publish(inARow("rescues", { bill: calls("late", { onError: "report" }), report }));
    const trace = await cloud.run(version);
    expect(JSON.parse(trace.context.text)).toMatchObject({ seen: "NodeTimeout" });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("gives the outer run an error that names the timeout of the inner run", async () => {
    await cloud.publish(inARow("limited", { pause: { type: "wait", seconds: "1d" } }, { timeout: 1 }));
    const { execution } = await cloud.run(await cloud.publish(inARow("calls-limited", { bill: calls("limited") })));
    const message = expect.stringMatching(/^workflow "limited" .* ran longer than its timeout/);
    expect(execution.error).toMatchObject({ node: "bill", class: "NodeTimeout", message });
  });

  it.each([
    ["the workflow is not published", "nowhere", {}, /there is no workflow "nowhere"/],
    ["the version does not exist", "sums", { version: 9 }, /workflow "sums" has no version 9 - its latest is 1/],
    ["a value for the inner run does not exist", "sums", { input: { a: "b.c" } }, /"a" takes "b\.c" from the context/],
  ])("makes the workflow node fail with the reason if %s", async (_what, workflow, fields, message) => {
    const version = await cloud.publish(inARow("asks-amiss", { bill: calls(workflow, fields) }));
    const { execution, entries } = await cloud.run(version);
    expect(execution.error).toMatchObject({
      node: "bill",
      class: "NodeFailed",
      message: expect.stringMatching(message),
    });
    expect(entries.at(-2)).not.toHaveProperty("child");
  });
});

it("a workflow can run itself through a workflow node up to eight levels deep", { tags: ["deep"] }, async () => {
  const again = (deepest: number) => ({
    id: "itself",
    nodes: [
      ...["start", "end"].map((type) => ({ id: type, type })),
      {
        id: "down",
        type: "decision",
        code: `context["n"] += 1\ncontext["branch_decision"] = context["n"] <= ${deepest}`,
      },
      { id: "deeper", ...calls("itself", { input: { n: "n" }, output: { n: "n" } }) },
    ],
    edges: [
      { from: "start", to: "down" },
      { from: "down", to: "deeper", condition: true },
      { from: "down", to: "end", condition: false },
      { from: "deeper", to: "end" },
    ],
  });
  const trace = await cloud.run(await cloud.publish(again(8)), '{"n": 0}');
  expect(JSON.parse(trace.context.text)).toMatchObject({ n: 9 });
  expect(await verifyExecution(cloud.ports, trace.execution.id)).toMatchObject({ state: "anchored", links: 8 * 5 + 4 });
  const { execution } = await cloud.run(await cloud.publish(again(9)), '{"n": 0}');
  expect(execution.error?.message).toMatch(/run inside of one another 8 deep at most/);
});

it("a map with the field `workflow` runs another workflow for each item", async () => {
  const code = 'context["double"] = context["n"] * 2 + context["more"] / (3 - context["n"])';
  await cloud.publish(inARow("doubles", { double: { code, effects: false } }));
  const each = { type: "map", items: "list", as: "n", workflow: "doubles", input: { more: "more" } };
  const fields = { ...each, output: { double: "double" }, max_concurrency: 2, tolerated_failures: 1 };
  const trace = await cloud.run(
    await cloud.publish(inARow("all-doubles", { each: fields })),
    '{"list": [1, 2, 3], "more": 0}',
  );
  const { results } = JSON.parse(trace.context.text);
  expect(results).toEqual([{ double: 2 }, { double: 4 }, { error: expect.objectContaining({ node: "each_item" }) }]);
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("a workflow node gives a secret only to secret inputs of the workflow that it runs", async () => {
  const inputs = (...secret: string[]) => ({
    inputs: { properties: Object.fromEntries(secret.map((key) => [key, { type: "string", secret: true }])) },
  });
  const look = 'context["length"] = len(context.get("password", ""))\nprint(context.get("password"))';
  await cloud.publish(inARow("may-see", { look }, inputs("password")));
  await cloud.publish(inARow("may-not", { look }));
  const version = await cloud.publish(
    inARow("has-secret", { one: calls("may-see"), other: calls("may-not") }, inputs("password")),
  );
  const trace = await cloud.run(version, '{"password": "hunter-22"}');
  expect(JSON.parse(trace.context.text)).toMatchObject({ one: { length: 9 }, other: { length: 0 } });
  expect(JSON.stringify(trace.entries)).not.toContain("hunter-22");
  const amiss = inARow("gives-away", { one: calls("may-not", { input: { text: "password" } }) }, inputs("password"));
  const { execution } = await cloud.run(await cloud.publish(amiss), '{"password": "hunter-22"}');
  expect(execution.error?.message).toMatch(/"text" takes the secret "password" from the context - mark "text"/);
});

/** Starts a run whose child run waits for a day, and returns the ids of both runs. */
async function waiting() {
  await cloud.publish(inARow("waits", { pause: { type: "wait", seconds: "1d" } }));
  const version = await cloud.publish(inARow("calls-waits", { bill: calls("waits") }));
  const { id } = await startExecution(cloud.ports, { version, context: "{}" });
  await new Promise<void>((resolve) => {
    cloud.untilEnd(id, ({ node, state }) => node === "bill" && state === "waiting" && resolve());
  });
  const children = await Array.fromAsync(cloud.ports.executions.open());
  const child = children.find(({ parent }) => parent?.execution === id);
  return { id, child: child?.id ?? "" };
}

it("an inner run is cancelled together with its outer run", async () => {
  const { id, child } = await waiting();
  expect(await cancelExecution(cloud.ports, id)).toMatchObject({ status: "cancelled" });
  const [own, trace] = await Promise.all([child, id].map((one) => readTrace(cloud.ports, one)));
  expect(own?.execution).toMatchObject({ status: "cancelled", open: false });
  expect(trace?.entries.map(({ node_id, status }) => `${node_id} ${status}`)).toEqual([
    "start success",
    "bill failed",
    "(close) failed",
  ]);
  expect(trace?.entries[1]?.child).toMatchObject({ execution_id: child });
  expect(await verified(cloud, trace as never)).toBe("anchored");
});

it("an inner run that is cancelled fails the workflow node that started it", async () => {
  const { id, child } = await waiting();
  await cancelExecution(cloud.ports, child);
  await cloud.untilEnd(id);
  const { execution } = await readTrace(cloud.ports, id);
  expect(execution.error).toMatchObject({
    class: "NodeInterrupted",
    message: `workflow "waits" (${child}) was cancelled`,
  });
});

it("the verification of an outer run reports a changed entry of its inner run", async () => {
  const version = await cloud.publish(inARow("calls-sums", { bill: calls("sums") }));
  const context = '{"invoice": {"lines": [1]}, "text": "x"}';
  const [whole, cut] = [await cloud.run(version, context), await cloud.run(version, context)];
  const childOf = (trace: typeof whole) => entryOf(trace, "bill").child?.execution_id ?? "";
  await change(childOf(whole), ({ head }) => ({ head: { S: head?.S?.replace('"sum"', '"sun"') ?? "" } }));
  const verification = await verifyExecution(cloud.ports, whole.execution.id);
  expect(verification).toMatchObject({ state: "broken", problem: { execution: childOf(whole), seq: 1 } });
  expect(await verified(cloud, cut)).toBe("anchored");
});

type Item = Record<string, { S?: string }>;

/** Changes entry 1 of an execution directly in the table. */
async function change(execution: string, changes: (item: Item) => Item): Promise<void> {
  const client = new DynamoDBClient();
  const TableName = process.env.NOVA_TABLE ?? "nova";
  for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
    const item = Items.find(({ pk, sk, head }) => head && pk?.S?.includes(execution) && /#0*1#1$/.test(sk?.S ?? ""));
    if (item)
      await client.send(new PutItemCommand({ TableName, Item: { ...item, ...changes(item as Item) } as never }));
  }
}
