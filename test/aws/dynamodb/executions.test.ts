import type { Execution, ExecutionQuery, ExecutionStore, Offer } from "@nova/engine";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createExecutionStore } from "../../../packages/aws/src/dynamodb/executions.ts";
import { failing, useTable } from "../support/endpoints.ts";

const table = useTable();
const workflowIds = ["invoice", "mail"];
let executions: ExecutionStore;
beforeAll(() => {
  const ids = async function* () {
    yield* workflowIds;
  };
  executions = createExecutionStore(table, { ids });
});

const base: Execution = {
  format: 1,
  id: "exec_01",
  workflowId: "invoice",
  version: 3,
  stateMachineArn: "arn:aws:states:us-east-1:000000000000:stateMachine:nova-invoice:3",
  client: "acme",
  root: "exec_01",
  status: "running",
  startedAt: "2026-11-21T10:00:00.000Z",
  open: true,
};

test("a second execution with the same id is refused, and the record of the first execution stays", async () => {
  expect(await executions.create(base)).toBe(true);
  expect(await executions.create({ ...base, status: "failed" })).toBe(false);
  expect(await executions.get(base.id)).toEqual(base);
});

test("an execution with an unknown id is not found, and cannot be updated", async () => {
  expect(await executions.get("exec_none")).toBeUndefined();
  await expect(executions.update("exec_none", { status: "failed" })).rejects.toThrow(/no execution "exec_none"/);
});

test("an update of an execution sets the given fields and keeps the other fields", async () => {
  const created = { ...base, id: "exec_02", root: "exec_02" };
  const error = { node: "extract", class: "NodeFailed", message: "no total" } as const;
  const closed = { status: "failed", endedAt: "2026-11-21T10:00:09.000Z", durationMs: 9000, nodes: 2, error } as const;
  const spent = { cost_usd: 0.004, tokens_input: 400, tokens_cached: 160, tokens_output: 40 };
  await executions.create(created);
  await executions.update(created.id, { ...closed, spent, tip: "hash" });
  expect(await executions.get(created.id)).toEqual({ ...created, ...closed, spent, tip: "hash" });
});

test("the record of a run that is restarted several times at once lists each restart once", async () => {
  const source = { ...base, id: "exec_source", root: "exec_source" };
  const ids = ["exec_r1", "exec_r2", "exec_r3"];
  const restarts = ids.map((id) => ({ ...base, id, root: source.id, restartedFrom: source.id }));
  await executions.create(source);
  expect(await Promise.all(restarts.map(executions.create))).toEqual([true, true, true]);
  expect(await Promise.all(restarts.map(executions.create))).toEqual([false, false, false]);
  expect((await executions.get(source.id))?.restarts?.toSorted()).toEqual(ids);
  await executions.update(source.id, { erased: "asked" });
  const late = { ...base, id: "exec_r4", root: source.id, restartedFrom: source.id };
  await expect(executions.create(late)).rejects.toThrow("exec_source was erased meanwhile - start a new one");
  expect(await executions.get(late.id)).toBeUndefined();
});

test("an execution that ends is removed from the index of open executions, and its record stays", async () => {
  const created = { ...base, id: "exec_03" };
  await executions.create(created);
  const openIds = async () => (await Array.fromAsync(executions.open())).map(({ id }) => id);
  expect(await openIds()).toContain("exec_03");
  expect(await executions.leave(created, [])).toBe(true);
  expect(await openIds()).not.toContain("exec_03");
  expect(await executions.get("exec_03")).toEqual({ ...created, open: false });
});

test("an idle sandbox is given to only one of several runs that ask for it, and is not offered again", async () => {
  const pool = { key: "p", idleSeconds: 60 };
  const idle = { id: "sbx_1", createdAt: base.startedAt, endsAt: "2026-11-21T10:01:00.000Z", pool };
  const { client: owner, workflowId, version } = base;
  const of = { id: "exec_04", client: owner, workflowId, version };
  await executions.create({ ...base, id: "exec_04" });
  const offer = { ...of, idle, offered: [idle] };
  expect(await executions.leave(of, [idle])).toBe(true);
  for (const client of [owner, undefined]) expect(await executions.idle(client)).toEqual([offer]);
  expect(await executions.idle("somebody else")).toEqual([]);
  expect((await executions.get("exec_04"))?.open).toBe(false);
  expect(await executions.setStatus("exec_04", "waiting", ["queued", "running", "completed"])).toBe(false);
  const taken = await Promise.all([1, 2, 3].map(() => executions.takeIdle(offer)));
  expect(taken.filter(Boolean)).toEqual([true]);
  expect(await executions.idle()).toEqual([]);
  expect(await executions.leave(of, [idle])).toBe(false);
  expect(await executions.takeIdle(offer)).toBe(false);
});

test("an idle sandbox that a run has taken is not offered again if the response to the offer was lost", async () => {
  const idle = { id: "sbx_6", createdAt: base.startedAt, endsAt: "2026-11-21T10:01:00.000Z" };
  const of = { ...base, id: "exec_06" };
  await executions.create(of);
  let isFirst = true;
  table.faults = ({ operation, text }) => {
    if (operation !== "UpdateItem" || !text.includes("exec_06") || !isFirst) return undefined;
    isFirst = false;
    return "lost";
  };
  const leaving = executions.leave(of, [idle, { ...idle, id: "sbx_7" }]);
  const offers = await vi.waitFor(async () => {
    const found = (await executions.idle()).filter(({ id }) => id === of.id);
    expect(found).toHaveLength(2);
    return found;
  });
  expect(await executions.takeIdle(offers[0] as Offer)).toBe(true);
  expect(await leaving).toBe(true);
  const left = (await executions.idle()).filter(({ id }) => id === of.id);
  expect(left.map(({ idle }) => idle.id)).toEqual(["sbx_7"]);
  expect(await executions.takeIdle(left[0] as Offer)).toBe(true);
});

test("each of several idle sandboxes is given to only one run, even if many runs ask for a sandbox at the same time", async () => {
  const ids = Array.from({ length: 6 }, (_, place) => `sbx_${place}`);
  const [createdAt, endsAt] = [base.startedAt, "2026-11-21T10:01:00.000Z"];
  await executions.create({ ...base, id: "exec_05" });
  await executions.leave(
    { ...base, id: "exec_05" },
    ids.map((id) => ({ id, createdAt, endsAt })),
  );
  const offers = await executions.idle();
  expect(offers.map(({ idle }) => idle.id)).toEqual(ids);
  const [first, ...others] = offers as [Offer, ...Offer[]];
  const changes = [
    executions.keepIdle(first, { id: "sbx_new", createdAt, endsAt }),
    ...[...others, ...others].map((offer) => executions.takeIdle(offer)),
  ];
  const [kept, ...taken] = await Promise.all(changes);
  expect([kept, taken.filter(Boolean).length]).toEqual([true, 5]);
  const [left] = await executions.idle();
  expect(left?.idle.id).toBe("sbx_new");
  expect(await executions.takeIdle(left as Offer)).toBe(true);
  expect(await executions.idle()).toEqual([]);
});

test.each([
  ["running", true, ["running", "waiting"], "waiting"],
  ["failed", true, ["running", "waiting"], "failed"],
  ["running", false, ["running"], "running"],
] as const)(
  "an execution with the status %s (open: %s) has, after an update from one of %j to `waiting`, the status %s",
  async (status, open, from, after) => {
    const id = `exec_status_${status}_${open}`;
    await executions.create({ ...base, id, status, open });
    expect(await executions.setStatus(id, "waiting", from)).toBe(after === "waiting");
    expect((await executions.get(id))?.status).toBe(after);
  },
);

describe("a queued execution", () => {
  const queued = (id: string): Execution => ({
    ...base,
    id,
    status: "queued",
    pools: ["W#a"],
    admission: "",
    open: true,
  });

  test("is taken from its queue by only one process, and only this process can start it, and only once", async () => {
    await executions.create(queued("exec_q1"));
    const claims = ["1", "2"].map((to) => executions.admit("exec_q1", { from: "", to }));
    expect((await Promise.all(claims)).sort()).toEqual([false, true]);
    const { admission: mine = "" } = (await executions.get("exec_q1")) ?? {};
    expect(await executions.admit("exec_q1", { from: "3", to: "3", begun: true })).toBe(false);
    expect(await executions.admit("exec_q1", { from: mine, to: mine, begun: true })).toBe(true);
    expect(await executions.get("exec_q1")).toMatchObject({ status: "running", pools: ["W#a"] });
    expect(await executions.admit("exec_q1", { from: mine, to: mine, begun: true })).toBe(false);
  });

  test("is taken by a process even if the response to the write of this process was lost", async () => {
    await executions.create(queued("exec_q2"));
    table.faults = failing(1, "lost");
    expect(await executions.admit("exec_q2", { from: "", to: "1" })).toBe(true);
  });

  test("cannot start after it was cancelled", async () => {
    await executions.create(queued("exec_q3"));
    await executions.update("exec_q3", { status: "cancelled" });
    expect(await executions.admit("exec_q3", { from: "", to: "1" })).toBe(false);
  });
});

test("the record of an execution says whether its contents are erased", async () => {
  const id = "exec_erased";
  await executions.create({ ...base, id, open: false });
  expect(await executions.get(id)).not.toHaveProperty("erased");
  await executions.update(id, { erased: true });
  expect(await executions.get(id)).toEqual({ ...base, id, open: false, erased: true });
});

describe("the lists of executions", () => {
  const at = (hour: number) => `2026-12-01T${String(hour).padStart(2, "0")}:00:00.000Z`;
  const many: Execution[] = Array.from({ length: 10 }, (_, index) => ({
    ...base,
    id: `exec_list_${index}`,
    workflowId: index < 7 ? "invoice" : "mail",
    client: index % 2 === 0 ? "even" : "odd",
    status: index % 3 === 0 ? "completed" : "failed",
    startedAt: at(index),
    open: false,
    ...(index % 3 === 1 && { error: { node: "extract", class: "NodeTimeout", message: "too slow" } }),
    ...(index > 5 && { trigger: "nightly" }),
  }));
  beforeAll(async () => {
    for (const execution of many) await executions.create(execution);
  });

  const december = { from: at(0) };
  test.each<[string, ExecutionQuery, number[]]>([
    ["of a workflow, newest first", { workflow: "mail" }, [9, 8, 7]],
    ["of a client", { client: "even" }, [8, 6, 4, 2, 0]],
    ["of a workflow and a client", { workflow: "mail", client: "odd" }, [9, 7]],
    ["of all clients", { limit: 10 }, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ["with a status", { workflow: "invoice", statuses: ["completed"] }, [6, 3, 0]],
    ["with one of several statuses", { workflow: "mail", statuses: ["completed", "failed"] }, [9, 8, 7]],
    ["of a class of errors", { errorClass: "NodeTimeout" }, [7, 4, 1]],
    ["of a class of errors that no execution has", { workflow: "mail", errorClass: "NodeFailed" }, []],
    ["of a trigger", { trigger: "nightly", statuses: ["failed"] }, [8, 7]],
    ["of a time range, including both ends", { client: "odd", from: at(3), to: at(7) }, [7, 5, 3]],
    ["of a client, oldest first", { client: "even", oldestFirst: true }, [0, 2, 4, 6, 8]],
    ["of a time range, oldest first", { client: "odd", from: at(3), to: at(7), oldestFirst: true }, [3, 5, 7]],
    ["of an unknown workflow", { workflow: "none" }, []],
    ["of a time range that ends before it starts", { client: "odd", from: at(7), to: at(3), oldestFirst: true }, []],
  ])("contain the executions that match a query: %s", async (_, query, expected) => {
    const { items, cursor } = await executions.list({ ...december, ...query });
    expect(items.map(({ id }) => id)).toEqual(expected.map((index) => `exec_list_${index}`));
    expect(cursor).toBeUndefined();
  });

  test.each<[string, ExecutionQuery]>([
    ["of a workflow", { workflow: "invoice" }],
    ["with a status", { client: "even", statuses: ["failed"] }],
    ["of all clients", {}],
    ["of a client, page by page, oldest first", { client: "even", oldestFirst: true }],
    ["of a class of errors, with two records examined for each page", { errorClass: "NodeTimeout", looksAt: 2 }],
    [
      "of a trigger of a workflow, with three records examined for each page",
      { workflow: "invoice", trigger: "nightly", looksAt: 3 },
    ],
    ["of all clients, with one record examined for each page", { looksAt: 1 }],
    ["of a time range, oldest first, page by page", { client: "odd", from: at(1), to: at(7), oldestFirst: true }],
  ])("have no gaps and no duplicates when they are read page by page: %s", async (_, query) => {
    const whole = await executions.list({ ...december, ...query, looksAt: 1000 });
    const paged: Execution[] = [];
    let cursor: string | undefined;
    do {
      const page = await executions.list({ ...december, ...query, limit: 2, ...(cursor && { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      paged.push(...page.items);
      cursor = page.cursor;
    } while (cursor);
    expect(paged).toEqual(whole.items);
  });

  test("examine a limited number of records for each page, so that pages are short if matches are rare", async () => {
    const rare = { ...december, errorClass: "NodeTimeout", looksAt: 2 };
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await executions.list({ ...rare, ...(cursor && { cursor }) });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor);
    expect(pages.flat()).toEqual(["exec_list_7", "exec_list_4", "exec_list_1"]);
    expect(pages.length).toBeGreaterThan(3);
  });

  test("contain all open executions, or only the open executions of one workflow or client", async () => {
    const october = { from: "2026-10-01T00:00:00.000Z", to: "2026-10-31T00:00:00.000Z" };
    for (const day of [1, 2, 3, 4, 5, 6]) {
      const isWaiting = day < 4;
      await executions.create({
        ...base,
        id: `exec_day_${day}`,
        startedAt: `2026-10-0${day}T10:00:00.000Z`,
        open: isWaiting,
        status: isWaiting ? "waiting" : "completed",
        workflowId: day === 2 ? "mail" : "invoice",
        client: day === 3 ? "october" : "acme",
      });
    }
    const daysOf = async (query: ExecutionQuery) => {
      const { items, cursor } = await executions.list({ ...october, statuses: ["waiting"], looksAt: 1, ...query });
      return [...items.map(({ id }) => id.at(-1)), ...(cursor === undefined ? [] : ["more"])];
    };
    expect(await daysOf({})).toEqual(["3", "2", "1"]);
    expect(await daysOf({ workflow: "invoice" })).toEqual(["3", "1"]);
    expect(await daysOf({ client: "october" })).toEqual(["3"]);
    expect(await daysOf({ limit: 2 })).toEqual(["3", "2", "more"]);
    expect(await daysOf({ statuses: ["running"] })).toEqual([]);
    expect(await daysOf({ statuses: ["running", "waiting"] })).toEqual(["3", "2", "1"]);
    expect(await daysOf({ workflow: "invoice", statuses: ["waiting", "completed"], looksAt: 100 })).toEqual([
      "6",
      "5",
      "4",
      "3",
      "1",
    ]);
    expect(await daysOf({ statuses: ["completed"], limit: 1 })).toEqual(["6", "more"]);
  });

  test("sort executions that started at the same time by id", async () => {
    const twins = ["a", "b", "c"].map((id) => ({ ...base, id: `exec_twin_${id}`, client: "twins" }));
    for (const twin of twins) await executions.create(twin);
    const first = await executions.list({ client: "twins", limit: 2 });
    const second = await executions.list({ client: "twins", limit: 2, cursor: first.cursor as string });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(twins.map(({ id }) => id).reverse());
    expect(second.cursor).toBeUndefined();
  });
});
