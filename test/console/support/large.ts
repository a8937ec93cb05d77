import type { Page, Route } from "playwright-core";

const id = "exec_01M8AE3FM12NENMCX6YM6S565Q";
const started = "2026-11-25T10:00:00.000Z";

function execution(number: number) {
  return {
    execution_id: `exec_${String(number).padStart(26, "0")}`,
    workflow: "large",
    version: 1,
    client: "default",
    status: number % 9 === 0 ? "failed" : "completed",
    started_at: new Date(Date.parse(started) - number * 1000).toISOString(),
    ended_at: started,
    duration_ms: 1200,
    nodes: 3,
    spent: null,
    parent: null,
    restarts: [],
    restarted_from: null,
    trigger: null,
    labels: {},
    error: number % 9 === 0 ? { node: "book", class: "NodeFailed", message: "no rate" } : null,
  };
}

function answer(route: Route, value: unknown): Promise<void> {
  return route.fulfill({ contentType: "application/json", body: JSON.stringify(value) });
}

/** Answers the page's requests with the runs of a busy month, in pages like those of the API. */
export async function answerRuns(page: Page, count: number): Promise<void> {
  await page.route(/\/executions\?/, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [first, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit") ?? 50)];
    const items = Array.from({ length: Math.min(limit, count - first) }, (_, index) => execution(first + index));
    return answer(route, { items, next_cursor: first + limit < count ? String(first + limit) : null });
  });
}

function entry(seq: number, scope: string, node_id: string, path_taken: string | null, more: object = {}) {
  return {
    seq,
    scope,
    node_id,
    node_type: "action",
    status: "success",
    error_class: null,
    error_message: null,
    traceback: null,
    decision_result: null,
    path_taken,
    attempt: 1,
    execution_time_ms: 100,
    times: { waiting_ms: 0, sandbox_ms: 10, model_ms: 0, code_ms: 90 },
    sandbox_id: "s",
    timestamp: new Date(Date.parse(started) + seq * 1000).toISOString(),
    hash: "h",
    prev: "p",
    code_hash: "c",
    reused_from: null,
    ai_metadata: null,
    steps: [],
    changes: { set: {}, delete: [] },
    ...more,
  };
}

interface Large {
  nodes: object[];
  edges: object[];
  entries: object[];
}

async function answerRun(page: Page, { nodes, edges, entries }: Large): Promise<string> {
  const at_work = { count: 0, nodes: [], maps: [] };
  const whole = { context: {}, path: [], at_work, started_by: null, state_machine_pages: [] };
  const run = { ...execution(1), execution_id: id, status: "completed", error: null, ...whole };
  await page.route(/\/executions\/exec_\w+(\?|$)/, (route) => answer(route, run));
  await page.route(/\/executions\/exec_\w+\/chain\?/, (route) => answer(route, { items: entries, next_cursor: null }));
  await page.route(/\/workflows\/large\?/, (route) => answer(route, { definition: { nodes, edges } }));
  return `/runs/${id}`;
}

/**
 * Answers the page's requests with a run of a graph with `count` nodes, which are in rows with crossing edges. Returns
 * the path of the run's page.
 */
export function answerGraph(page: Page, count: number): Promise<string> {
  const width = 10;
  const name = (number: number) => `node_${number}`;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const nodes = numbers.map((number) => ({ id: name(number), type: "action", executor: { kind: "code" } }));
  const edges = numbers.flatMap((number) =>
    [number + width, number + width + 1].filter((to) => to < count).map((to) => ({ from: name(number), to: name(to) })),
  );
  const entries = numbers.map((number) =>
    entry(number, "", name(number), number + width < count ? name(number + width) : null),
  );
  return answerRun(page, {
    nodes,
    edges,
    entries: [...entries, entry(count, "", "(close)", null, { node_type: "close" })],
  });
}

/**
 * Answers the page's requests with a run of a map with `count` items, some of which failed. Returns the path of the
 * run's page.
 */
export function answerMap(page: Page, count: number): Promise<string> {
  const body = { nodes: [{ id: "price", type: "action", executor: { kind: "code" } }], edges: [] };
  const branches = Array.from({ length: count }, (_, item) => {
    const scope = `/each@0.${item}`;
    const failed =
      item % 1000 === 999 ? { status: "failed", error_class: "NodeFailed", error_message: "no price" } : {};
    return { branch: String(item), scope, entries: [entry(1, scope, "price", null, failed)] };
  });
  const map = entry(0, "", "each", "each.join", { node_type: "map", branches });
  const close = entry(2, "", "(close)", null, { node_type: "close" });
  return answerRun(page, { nodes: [{ id: "each", type: "map", body }], edges: [], entries: [map, close] });
}

/**
 * Answers the page's requests with a run whose entry has a context that refers to a large JSON blob at the address
 * `blob`.
 */
export async function answerValue(page: Page, bytes: number, blob: string): Promise<string> {
  const nodes = [{ id: "make", type: "action", executor: { kind: "code" } }];
  const rows = Array.from({ length: bytes / 100 }, (_, row) => ({ row, text: "x".repeat(80) }));
  const entryOfMake = entry(0, "", "make", null);
  const $blob = { sha256: "a".repeat(64), bytes, type: "json" };
  const full = { ...entryOfMake, code_executed: "", input_context: {}, output_result: { rows: { $blob } }, logs: null };
  await page.route(/\/executions\/exec_\w+\/chain\/0\?/, (route) => answer(route, full));
  await page.route(/\/executions\/exec_\w+\/blobs\//, (route) => answer(route, { url: blob, expires_at: started }));
  await page.route(blob, (route) => answer(route, { total: 850, rows }));
  return answerRun(page, {
    nodes,
    edges: [],
    entries: [entryOfMake, entry(1, "", "(close)", null, { node_type: "close" })],
  });
}
