import type { ChainEntry, WholeExecution } from "@nova/client";
import { expect, it } from "vitest";
import { buildRunModel, reportItems } from "../../../../packages/console/src/pages/run/run-model.ts";

const times = { waiting_ms: 1, sandbox_ms: 0, model_ms: 0, code_ms: 2 };

function entry(seq: number, scope: string, node_id: string, path_taken: string | null, more: object = {}) {
  const common = { error_class: null, error_message: null, execution_time_ms: 2, steps: [], reused_from: null, times };
  const timestamp = new Date(1_000 + seq).toISOString();
  return { seq, scope, node_id, node_type: "action", status: "success", path_taken, timestamp, ...common, ...more };
}

const failed = { status: "failed", error_class: "NodeFailed", error_message: "no price" };
const cancelled = { status: "failed", error_class: "ExecutionClosed", error_message: "closed" };

function branch(item: number, ...ends: object[]) {
  const scope = `/each@1.${item}`;
  return { branch: String(item), scope, entries: ends.map((end) => entry(1, scope, "price", null, end)) };
}

const branches = [branch(0, {}), branch(1, failed), branch(2, failed), branch(3, cancelled), branch(4), branch(5)];
const fork = entry(1, "", "each", "each.join", { node_type: "map", branches });
const graph = { nodes: [], edges: [] };
const run = { execution_id: "exec_1", started_at: new Date(0).toISOString(), error: null };

function modelOf(entries: object[], ended_at: string | null) {
  const whole = { ...run, ended_at, at_work: { count: 0, nodes: [], maps: [] } } as unknown as WholeExecution;
  return buildRunModel(whole, entries as ChainEntry[], graph);
}

it("the report of a map counts items by their outcome, and groups failures by their error", () => {
  const model = modelOf([fork, entry(2, "", "each.join", "end", { node_type: "join", ...cancelled })], "now");
  const [map] = model.visits;
  expect(map && reportItems(map, model.visits)).toMatchObject({
    ...{ items: 6, begun: 4, completed: 1, failed: 2, cancelled: 1, reused: 0 },
    failures: [{ node: "price", class: "NodeFailed", message: "no price", visits: [{}, {}] }],
  });
  expect(model.maps.get("each")).toMatchObject({ items: 6, begun: 4 });
});

it("a map and its join are shown as one visit, which has the state of the join", () => {
  const join = entry(2, "", "each.join", "end", { node_type: "join" });
  const states = (entries: object[], ended: string | null) => {
    const { visits } = modelOf(entries, ended);
    return visits.filter(({ node }) => node.startsWith("each")).map(({ state }) => state);
  };
  expect(states([fork, join], "now")).toEqual(["success"]);
  expect(states([fork, { ...join, ...failed }], "now")).toEqual(["failed"]);
  expect(states([fork], null)).toEqual(["running"]);
  expect(states([fork], "now")).toEqual(["cancelled"]);
});

it("the times of a run are the sums over all its entries, even if nodes are folded", () => {
  const { times: sums } = modelOf([fork], null);
  expect(sums).toEqual({ waiting_ms: 5, sandbox_ms: 0, model_ms: 0, code_ms: 10 });
});
