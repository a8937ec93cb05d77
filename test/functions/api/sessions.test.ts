import { describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";

const api = useApi();

/** Sets a key to another number each time, so that who ran again can be seen. */
const random = (key: string, more = "") => `import random\n${more}\ncontext["${key}"] = random.random()`;

interface NodeState {
  node_id: string;
  version: number;
  state: string;
  source: object | null;
}

async function session(nodes: Record<string, string>, edges: [string, string][], more: object = {}): Promise<string> {
  const body = {
    nodes: Object.entries(nodes).map(([id, code]) => ({ id, type: "action", code })),
    edges: edges.map(([from, to]) => ({ from, to })),
    ...more,
  };
  const made = await api.call("POST /sessions", { body });
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body.session_id;
}

async function states(id: string): Promise<Record<string, string>> {
  const { body } = await api.call(`GET /sessions/${id}`);
  return Object.fromEntries(body.nodes.map(({ node_id, state }: NodeState) => [node_id, state]));
}

const chain = (): Promise<string> =>
  session({ a: random("a"), b: random("b"), c: random("c") }, [
    ["a", "b"],
    ["b", "c"],
  ]);

const run = (id: string) => api.call(`POST /sessions/${id}/run`);
const patch = (id: string, node: string, body: object, query = "") =>
  api.call(`PATCH /sessions/${id}/nodes/${node}${query}`, { body });

describe("a session", { timeout: 60_000 }, () => {
  it("runs what is stale and nothing else, and says what it took over", async () => {
    const id = await chain();
    expect(await states(id)).toEqual({ a: "stale", b: "stale", c: "stale" });
    const first = await run(id);
    expect(first.body).toMatchObject({ status: "completed", runs: ["a", "b", "c"], reused: [], ran: ["a", "b", "c"] });
    expect(await states(id)).toEqual({ a: "fresh", b: "fresh", c: "fresh" });
    const again = await run(id);
    expect(again.body).toMatchObject({ execution_id: null, runs: [], reused: ["a", "b", "c"], status: "completed" });
    await patch(id, "b", { code: random("b", "x = context['a']") });
    expect(await states(id)).toEqual({ a: "fresh", b: "stale", c: "stale" });
    const third = await run(id);
    expect(third.body).toMatchObject({ runs: ["b", "c"], reused: ["a"], ran: ["b", "c"], error: null });
    const { context } = (await api.call(`GET /executions/${third.body.execution_id}`)).body;
    expect(context.a).toBe(first.body.outputs[0].output.a);
    expect(context.b).not.toBe(first.body.outputs[1].output.b);
    expect((await api.call(`GET /executions/${third.body.execution_id}/verify`)).body.state).toBe("anchored");
  });
});
