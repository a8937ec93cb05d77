import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, answerTask, cancelExecution, type FileInput, readTrace, startExecution } from "@nova/engine";
import { readWorkflowSource } from "@nova/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, historyText, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { root } from "../support/imports.ts";

const example = join(root, "packages/examples/approval");
let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
});

function invoice(name: string): FileInput {
  const body = readFileSync(join(example, "invoices", `${name}.txt`));
  const sha256 = createHash("sha256").update(body).digest("hex");
  return {
    key: "invoice",
    sha256,
    bytes: body.length,
    open: async function* () {
      yield body;
    },
  };
}

/**
 * Starts a run of the example, waits until it has requested its approval, and returns its id. The approval expires
 * after `timeout`.
 */
async function asked(timeout: string | number = "3d"): Promise<string> {
  const source = await readWorkflowSource(example);
  const text = source.text.replace('"timeout": "3d"', `"timeout": ${JSON.stringify(timeout)}`);
  const version = await cloud.publish({ ...source, text });
  const { id } = await startExecution(cloud.ports, { version, context: "{}", files: [invoice("desks")] });
  await new Promise<void>((resolve) => {
    cloud.untilEnd(id, ({ state }) => state === "waiting" && resolve());
  });
  return id;
}

function answer(execution: string, choice: string, more: Partial<Answer> = {}) {
  return answerTask(cloud.ports, { execution, node: "manager", choice, by: "ann", from: "a test", ...more });
}

async function ended(id: string) {
  await cloud.untilEnd(id);
  const trace = await readTrace(cloud.ports, id, { full: true });
  expect(await verified(cloud, trace)).toBe("anchored");
  return { ...trace, values: JSON.parse(trace.context.text) };
}

describe("a run for an invoice over 1000", () => {
  it("pays the invoice with the data of the approval form when the manager approves the invoice", async () => {
    const id = await asked();
    const [task] = await Array.fromAsync(cloud.ports.tasks.pending());
    expect(task).toMatchObject({
      execution: id,
      message: "Pay 1,338.75 EUR to Nordic Desk Company (invoice ND-20417)?",
    });
    expect((await cloud.ports.executions.get(id))?.status).toBe("waiting");
    await answer(id, "approved", { data: '{"cost_center": 4711}' });
    const { values, execution, entries } = await ended(id);
    expect(execution.status).toBe("completed");
    expect(values).toMatchObject({
      outcome: "paid",
      payment: { cost_center: 4711, approved_by: "ann", total: 1338.75 },
    });
    expect(entryOf({ entries } as never, "manager")).toMatchObject({ decision_result: "approved", path_taken: "pay" });
    expect(values.manager).toEqual({
      choice: "approved",
      data: { cost_center: 4711 },
      by: "ann",
      at: expect.any(String),
      from: "a test",
    });
  });

  it("rejects the invoice with the manager's reason when the manager rejects the invoice", async () => {
    const id = await asked();
    await answer(id, "rejected", { data: '{"reason": "too many desks"}' });
    const { values } = await ended(id);
    expect(values).toMatchObject({ outcome: "turned down", turned_down: { by: "ann", reason: "too many desks" } });
  });

  it("puts the invoice aside if the manager does not answer in time, and refuses a late answer", async () => {
    const id = await asked(1);
    const { values } = await ended(id);
    expect(values).toMatchObject({ outcome: "put aside", manager: { choice: "timeout", by: null } });
    await expect(answer(id, "approved")).rejects.toThrow(/"manager" expired at .* and went on as "timeout"/);
  });

  it("accepts only one answer of the manager, and refuses answers with invalid data", async () => {
    const id = await asked();
    await expect(answer(id, "approved", { data: '{"cost_center": 1}' })).rejects.toThrow(
      /data.cost_center must be >= 1000/,
    );
    await expect(answer(id, "maybe")).rejects.toThrow(/"maybe" is no choice/);
    const answers = await Promise.allSettled(
      ["ann", "bob", "eve"].map((by) => answer(id, by === "bob" ? "rejected" : "approved", { by })),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(answer(id, "rejected")).rejects.toThrow(/already answered by (ann|bob|eve) at/);
    const { entries } = await ended(id);
    expect(entries.filter(({ node_id }) => node_id === "manager")).toHaveLength(1);
  });

  it("has no open task after it was cancelled", async () => {
    const id = await asked();
    await cancelExecution(cloud.ports, id);
    const { execution, path } = await ended(id);
    expect([execution.status, path.at(-1)]).toEqual(["cancelled", "manager"]);
    expect(await Array.fromAsync(cloud.ports.tasks.pending())).toEqual([]);
    await expect(answer(id, "approved")).rejects.toThrow(/takes no answer any more: the execution was cancelled/);
  });
});

it("a run for an invoice under 1000 asks for no approval", async () => {
  const { context, path } = await cloud.run(await cloud.publish(example), "{}", [invoice("paper")]);
  expect(path).not.toContain("manager");
  expect(JSON.parse(context.text)).toMatchObject({ outcome: "paid", payment: { total: 99.96, currency: "EUR" } });
});

describe("a run that waits for an approval", () => {
  it("occupies no sandbox and no Lambda", async () => {
    const id = await asked();
    const { E2B_API_URL, E2B_API_KEY = "" } = cloud.environment;
    const sandboxes = await fetch(`${E2B_API_URL}/v2/sandboxes`, { headers: { "x-api-key": E2B_API_KEY } });
    expect(await sandboxes.json()).toEqual([]);
    const trace = await readTrace(cloud.ports, id);
    expect(JSON.parse(await historyText(trace)).at(-1)).toMatchObject({ type: "TaskSubmitted" });
    await answer(id, "rejected");
    await cloud.untilEnd(id);
  });

  it("stores its task token only in the history of Step Functions", async () => {
    const id = await asked();
    const history = JSON.parse(await historyText(await readTrace(cloud.ports, id))) as object[];
    const [, token = ""] = /\\"token\\":\\"([^"\\]+)\\"/.exec(JSON.stringify(history)) ?? [];
    expect(token.length).toBeGreaterThan(40);
    const pending = await Array.fromAsync(cloud.ports.tasks.pending());
    const answered = await answer(id, "approved");
    const { entries, execution } = await ended(id);
    expect(JSON.stringify([pending, answered, entries, execution])).not.toContain(token);
    const files = readdirSync(cloud.dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const stored = files
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => !path.includes("/states/"));
    expect(stored.join()).toContain("dynamodb");
    expect(stored.filter((path) => readFileSync(path).includes(token))).toEqual([]);
  });
});
