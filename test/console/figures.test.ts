// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { join } from "node:path";
import { formatDuration, formatRate, timeClasses } from "@nova/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nova } from "../cli/support/nova.ts";
import { openTestCloud } from "../support/cloud.ts";
import { countingLoop } from "../support/counting-loop.ts";
import { answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";
import { hasBrowser, waitUntil, waitUntilLoaded } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

interface Entry {
  node_id: string;
  node_type: string;
  scope: string;
  seq: number;
  status: string;
  error_class: string | null;
  error_message: string | null;
  path_taken: string | null;
  decision_result: string | null;
  execution_time_ms: number;
  timestamp: string;
  reused_from: object | null;
  times: Record<string, number>;
  branches?: { branch: string; entries: Entry[] }[];
  child?: { execution_id: string };
}

interface Trace {
  execution_id: string;
  status: string;
  started_at: string;
  duration_ms: number | null;
  entries: Entry[];
  times: Record<string, number>;
  at_work: { nodes: { node_id: string; waits_for: { kind: string } | null }[] };
}

const action = (id: string, code: string, more: object = {}) => ({ id, type: "action", code, ...more });
const edge = (from: string, to: string, condition?: string | boolean, more: object = {}) => {
  return { from, to, ...(condition !== undefined && { condition }), ...more };
};

/** A map in which every fourth item fails. */
const each = {
  id: "each",
  type: "map",
  items: "list",
  into: "prices",
  max_concurrency: 3,
  tolerated_failures: "100%",
  nodes: [
    action("price", "if context['index'] % 4 == 3:\n    raise ValueError('no price')\ncontext['price'] = 2"),
    action("tax", "context['tax'] = 1"),
  ],
  edges: [edge("price", "tax")],
};

/**
 * A workflow with nodes of almost every kind. Its run waits for a person at the approval `manager`, and its last two
 * nodes call a model.
 */
const shapes = {
  id: "shapes",
  name: "Every shape",
  nodes: [
    { id: "start", type: "start" },
    action("load", "context['list'] = list(range(12))"),
    each,
    action("split", "context['parts'] = 2"),
    action("left", "context['left'] = 1"),
    action("right", "import time\ntime.sleep(0.3)\ncontext['right'] = 1"),
    action("flaky", "raise ValueError('busy')", { retry: { attempts: 2, delay: "1s" }, onError: "poll" }),
    action("poll", "context['tries'] = context.get('tries', 0) + 1"),
    { id: "ready", type: "decision", code: "context['branch_decision'] = 'done' if context['tries'] > 2 else 'again'" },
    { id: "inner", type: "workflow", workflow: "small" },
    { id: "pause", type: "wait", seconds: 1 },
    { id: "manager", type: "approval", message: "Pay?", choices: ["approved", "rejected"], timeout: "3d" },
    { id: "total", type: "action", executor: "prompt", prompt: "Count `list` into `total`, a number." },
    { id: "words", type: "action", executor: "text", prompt: "Say {total.total}." },
    { id: "end", type: "end" },
  ],
  edges: [
    edge("start", "load"),
    edge("load", "each"),
    edge("each", "split"),
    ...["left", "right"].flatMap((side) => [edge("split", side), edge(side, "flaky")]),
    edge("flaky", "poll"),
    edge("poll", "ready"),
    edge("ready", "poll", "again", { max: 5 }),
    edge("ready", "inner", "done"),
    edge("ready", "inner", "default"),
    edge("inner", "pause"),
    edge("pause", "manager"),
    edge("manager", "total", "approved"),
    edge("manager", "end", "rejected"),
    edge("manager", "end", "timeout"),
    edge("total", "words"),
    edge("words", "end"),
  ],
};

const small = {
  id: "small",
  name: "A small one",
  nodes: [{ id: "start", type: "start" }, action("one", "context['one'] = 1"), { id: "end", type: "end" }],
  edges: [edge("start", "one"), edge("one", "end")],
};

/**
 * A map that runs two items at the same time. The first item ends at once, and each of the other items takes a minute.
 */
const stuck = {
  id: "stuck",
  nodes: [
    { id: "start", type: "start" },
    action("load", "context['list'] = list(range(9))"),
    {
      ...{ id: "each", type: "map", items: "list", max_concurrency: 2 },
      nodes: [action("hang", "import time\ntime.sleep(60 if context['index'] > 0 else 0)", { timeout: 900 })],
      edges: [],
    },
    action("after", "pass"),
    { id: "end", type: "end" },
  ],
  edges: [edge("start", "load"), edge("load", "each"), edge("each", "after"), edge("after", "end")],
};

/** Publishes a loop whose budget of Step Functions events is so small that each run continues in further executions. */
async function publishLongLoop(folder: string): Promise<void> {
  const names = new Set(Object.keys(process.env));
  const cloud = await openTestCloud({ dataDir: join(folder, ".nova") });
  await cloud.publish(countingLoop("rounds"), { historyEvents: 20 });
  await cloud.close();
  for (const name of Object.keys(process.env)) if (!names.has(name)) delete process.env[name];
}

/** A viewport into which the whole graph fits, because the graph renders only visible nodes. */
const tall = { width: 1600, height: 3200 };

const isNode = ({ node_type }: Entry) => node_type !== "join" && node_type !== "close";

/** Returns these entries and the entries of their branches at any depth, but not the entries of child runs. */
function flat(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => flat(branch.entries))]);
}

/**
 * Returns the entry that ends the visit of a node. For a map, this is the entry of its join; for any other node, it is
 * the entry itself.
 */
function endOf(trace: Trace, entry: Entry): Entry {
  const join = flat(trace.entries).find(({ scope, seq }) => scope === entry.scope && seq === entry.seq + 1);
  return entry.node_type === "map" && join ? join : entry;
}

function stateOf(trace: Trace, entries: readonly Entry[]): string {
  const states = entries.map((entry) => {
    const { status, error_class } = endOf(trace, entry);
    return error_class === "ExecutionClosed" ? "cancelled" : status;
  });
  return ["failed", "cancelled", "success"].find((state) => states.includes(state)) ?? "idle";
}

describe.skipIf(!hasBrowser)("every figure of the console", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await modelServer((request) =>
      request.role === "text"
        ? { text: "Twelve." }
        : answering(
            { code: ["context['total'] = len(context['items'])", "context['total'] = len(context['list'])"] },
            request,
          ),
    );
    Object.assign(process.env, server.environment);
  });
  const app = useConsole({ prepare: publishLongLoop });
  beforeAll(async () => {
    if (!hasBrowser) return;
    for (const workflow of [small, shapes, stuck]) await app.nova.workflows.publish(workflow);
  });
  afterAll(async () => {
    for (const name of Object.keys(server.environment)) delete process.env[name];
    await server[Symbol.asyncDispose]();
  });

  /** Reads the trace as the command line prints it. */
  async function traceOf(id: string): Promise<Trace> {
    const { code, stdout } = await nova(app.folder, "trace", id, "--json");
    expect(code).toBe(0);
    return JSON.parse(stdout);
  }

  const card = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"] .node`);

  async function timelineOf(page: Page): Promise<Record<string, string>> {
    const keys = page.locator(".timeline-head .legend-key");
    const texts = await keys.evaluateAll((all) =>
      all.map((one) => [one.firstChild?.textContent, one.querySelector("b")?.textContent]),
    );
    return Object.fromEntries(texts.map(([name, text]) => [name?.trim(), text]));
  }

  /**
   * Computes the sums that the timeline's legend must show from the times of the entries. Checks that the trace
   * contains the same sums.
   */
  function legendOf(trace: Trace): Record<string, string> {
    const sums = timeClasses.map((name): [string, number] => {
      const all = flat(trace.entries).map(({ times }) => times[`${name}_ms`] ?? Number.NaN);
      return [name, all.reduce((sum, ms) => sum + ms, 0)];
    });
    expect(trace.times).toEqual(Object.fromEntries(sums.map(([name, ms]) => [`${name}_ms`, ms])));
    const shown = sums.filter(([, ms]) => ms > 0);
    return Object.fromEntries(shown.map(([name, ms]) => [name[0]?.toUpperCase() + name.slice(1), formatDuration(ms)]));
  }

  /** Compares the page of a run with its trace. */
  async function expectTrue(page: Page, trace: Trace): Promise<void> {
    const nodes = Map.groupBy(flat(trace.entries).filter(isNode), ({ node_id }) => node_id);
    const working = new Map(trace.at_work.nodes.map((node) => [node.node_id, node]));
    for (const [id, entries] of nodes) {
      if (working.has(id) || (await card(page, id).count()) === 0) continue;
      expect([id, await card(page, id).getAttribute("data-state")]).toEqual([id, stateOf(trace, entries)]);
      expect([id, await card(page, id).innerText()]).toEqual([id, expect.stringContaining(noteOf(trace, entries))]);
    }
    for (const [id, { waits_for }] of working) {
      expect([id, await card(page, id).getAttribute("data-state")]).toEqual([id, waits_for ? "waiting" : "running"]);
    }
    expect(await timelineOf(page)).toEqual(legendOf(trace));
  }

  function noteOf(trace: Trace, entries: readonly Entry[]): string {
    const [first] = entries as [Entry];
    if (first.node_type === "map") return itemsOf(entries);
    const ms = entries.reduce((sum, entry) => sum + endOf(trace, entry).execution_time_ms, 0);
    if (entries.every(({ reused_from }) => reused_from)) return "reused";
    const visits = entries.length > 1 ? `${entries.length} visits` : "";
    return ms > 0 ? formatDuration(ms) : visits;
  }

  function itemsOf(maps: readonly Entry[]): string {
    const branches = maps.flatMap(({ branches = [] }) => branches);
    const begun = branches.filter(({ entries }) => entries.length > 0).length;
    const failed = branches.filter(({ entries }) => entries.at(-1)?.status === "failed").length;
    const all = begun < branches.length ? `${begun} of ${branches.length} items ran` : `${branches.length} items`;
    return [all, ...(failed > 0 ? [`${failed} failed`] : [])].join(", ");
  }

  /** Reads the name and the duration of each line of the timeline. */
  const linesOf = (page: Page) =>
    page
      .locator(".timeline-row")
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector(".timeline-name")?.textContent?.trim(),
          row.querySelector(".timeline-took")?.textContent,
        ]),
      );

  it("is the same as in the trace of an open or ended run, with folded or unfolded nodes", async () => {
    const { execution_id: id } = await app.nova.executions.execute("shapes", { context: {} });
    const page = await app.open(`/runs/${id}`, { viewport: tall });
    await card(page, "manager").and(page.locator("[data-state=waiting]")).waitFor({ timeout: 60_000 });
    await waitUntilLoaded(page);
    const live = await traceOf(id);
    expect(live.status).toBe("waiting");
    await expectTrue(page, live);
    expect(await card(page, "total").locator(".node-state").getAttribute("aria-label")).toBe("not reached yet");

    const [task] = await Array.fromAsync(app.nova.tasks.list());
    await app.nova.tasks.answer(task?.task_id as string, { choice: "approved" });
    await page.locator(".run-top").getByText("Completed").waitFor({ timeout: 60_000 });
    await waitUntilLoaded(page);
    const trace = await traceOf(id);
    await waitUntil(async () => expect(await timelineOf(page)).toEqual(legendOf(trace)));
    await expectTrue(page, trace);
    const timesOf = (node: string) => flat(trace.entries).find(({ node_id }) => node_id === node)?.times ?? {};
    expect(timesOf("words")).toMatchObject({ sandbox_ms: 0, code_ms: 0, model_ms: expect.toSatisfy((ms) => ms > 0) });
    expect(timesOf("pause")).toMatchObject({ waiting_ms: expect.toSatisfy((ms) => ms >= 900), code_ms: 0 });
    expect(timesOf("each")).toEqual({ waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 });
    expect(trace.times.waiting_ms).toBeGreaterThan(1000);

    // Unfolding the map and the child run changes no figure.
    const folded = await linesOf(page);
    const [, took] = folded.find(([name]) => name === "each") ?? [];
    const map = flat(trace.entries).find(({ node_id }) => node_id === "each") as Entry;
    const mapIndex = trace.entries.indexOf(map);
    const before = trace.entries[mapIndex - 1] as Entry;
    const span = Date.parse(endOf(trace, map).timestamp) - Date.parse(before.timestamp);
    expect(took).toBe(formatDuration(span));
    await page.locator(".timeline-row", { hasText: "12 items" }).click();
    await card(page, "inner").getByRole("button", { name: "Unfold" }).click();
    await card(page, "inner/one").waitFor();
    await waitUntilLoaded(page);
    expect(await timelineOf(page)).toEqual(legendOf(trace));
    await expectTrue(page, trace);

    // The console shows a map as one visit. Its panel contains the numbers of items, the failures by error, and the
    // values that the join has set.
    await card(page, "each").click({ position: { x: 60, y: 20 } });
    const panel = page.getByRole("complementary", { name: "Entry" });
    const report = panel.getByRole("region", { name: "Items of the map" });
    expect(await report.locator("dl").innerText()).toMatch(/Items\s+12\s+Completed\s+9\s+Failed\s+3/);
    expect(await report.getByRole("button").allInnerTexts()).toEqual([
      expect.stringMatching(/^3×\s+price NodeFailed ValueError: no price\s+items 3, 7, 11$/),
    ]);
    await panel.getByRole("button", { name: /^prices/ }).waitFor();
    expect(await panel.getByText("It changed nothing.").count()).toBe(0);

    const list = await app.open("/");
    const row = list.getByRole("row").filter({ has: list.getByLabel(`Select run ${id}`) });
    await row.getByText("Completed").waitFor();
    expect(await row.innerText()).toContain(formatDuration(trace.duration_ms ?? Number.NaN));
    expect(await row.getByRole("link").first().innerText()).toBe("Every shape");
  });

  it("is the same as in the trace of a cancelled map, and counts only the items that ran", async () => {
    const { execution_id: id } = await app.nova.executions.execute("stuck", { context: {} });
    const page = await app.open(`/runs/${id}`, { viewport: tall });
    await card(page, "each")
      .getByText(/\d of 9 items ran/)
      .waitFor();
    await waitUntil(async () => expect((await app.nova.executions.get(id)).at_work.count).toBe(2));
    await app.nova.executions.cancel(id);
    await page.locator(".run-top").getByText("Cancelled").waitFor();
    await waitUntilLoaded(page);
    const trace = await traceOf(id);
    await waitUntil(async () => expect(await card(page, "each").getAttribute("data-state")).toBe("cancelled"));
    await expectTrue(page, trace);
    expect(await card(page, "each").innerText()).toContain("3 of 9 items ran");
    expect(await card(page, "after").locator(".node-state").getAttribute("aria-label")).toBe("did not run");
  });

  it("is the same as in the trace of a loop that continues in further executions", async () => {
    const { execution_id: id } = await app.nova.executions.run("rounds", { context: { wanted: 12 } });
    const page = await app.open(`/runs/${id}`, { viewport: tall });
    await page.locator(".run-top").getByText("Completed").waitFor();
    await waitUntilLoaded(page);
    const trace = await traceOf(id);
    expect(trace.entries.filter(({ node_id }) => node_id === "up")).toHaveLength(12);
    await expectTrue(page, trace);
    expect((await linesOf(page)).filter(([name]) => name === "up" || name === "there")).toHaveLength(24);
    expect(await page.locator(".run-facts").innerText()).toContain(formatDuration(trace.duration_ms ?? Number.NaN));
  });

  it("is the same as in the trace of a restart, and the list of runs does not restart a run that was already restarted", async () => {
    const { execution_id: id } = await app.nova.executions.run("orders", { context: { total: 9500 } });
    const { execution_id: again } = await app.nova.executions.restart(id);
    await waitUntil(async () => expect((await app.nova.executions.get(again)).status).toBe("failed"));
    const page = await app.open(`/runs/${again}`, { viewport: tall });
    await page.locator(".run-top").getByText("Failed").waitFor();
    await waitUntilLoaded(page);
    const trace = await traceOf(again);
    expect(flat(trace.entries).filter(({ reused_from }) => reused_from).length).toBeGreaterThan(3);
    await expectTrue(page, trace);

    const list = await app.open("/?workflow=orders");
    for (const one of [id, again]) await list.getByLabel(`Select run ${one}`).check();
    await list.getByRole("button", { name: "Restart runs" }).click();
    const dialog = list.getByRole("dialog", { name: "Restart 1 run?" });
    await dialog.getByText("1 was restarted before, or is a child run, and is skipped.").waitFor();
    await dialog.getByRole("button", { name: "Restart runs" }).click();
    await list.getByText("1 started again").waitFor();
    const runs = await Array.fromAsync(app.nova.executions.list({ workflow: "orders" }));
    expect(runs).toHaveLength(3);
    for (const { execution_id } of runs) await list.getByLabel(`Select run ${execution_id}`).waitFor();
    await waitUntil(async () =>
      expect(await list.getByRole("link", { name: "restarted", exact: true }).count()).toBe(2),
    );
  });

  it("is the same on the pages of workflows, of one workflow and of costs", async () => {
    for (const total of [10, 20]) await app.nova.executions.run("orders", { context: { total } });
    const runs = await Array.fromAsync(app.nova.executions.list({ workflow: "orders" }));
    // The statistics of a run are written after its end.
    const figures = await waitUntil(async () => {
      const query = { workflow: "orders" };
      const [found] = await Array.fromAsync(app.nova.list("/analytics/workflows", { query }));
      expect(found?.runs).toBe(runs.length);
      return found;
    });
    const rate = formatRate(figures?.success_rate ?? Number.NaN);
    const page = await app.open("/workflows");
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Orders", exact: true }) });
    await row.getByText(`${rate} of ${figures?.runs}`).waitFor();
    await waitUntil(async () => expect(await row.locator(".last-runs span").count()).toBe(runs.length));
    await page.goto(`${app.url}/console/workflows/orders/analytics`);
    await page.locator(".tiles").getByText(rate, { exact: true }).waitFor();
    await page.goto(`${app.url}/console/costs`);
    await page.getByRole("row").filter({ hasText: "Orders" }).getByText(rate, { exact: true }).first().waitFor();
  });
});
