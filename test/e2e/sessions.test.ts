// @module-tag deep
import fc from "fast-check";
import { expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";

const api = useApi();

const ids = ["a", "b", "c", "d"];
const pairs = ids.flatMap((from, index) => ids.slice(index + 1).map((to) => ({ from, to })));
const id = fc.constantFrom(...ids);

/**
 * Builds code for a node. The code sets a digest of `text` and of all values that earlier nodes set. So the digest
 * differs whenever an input or the code differs.
 */
function codeOf(node: string, text: number): string {
  return [
    "import hashlib, json",
    "found = {key: context[key] for key in sorted(context) if key.startswith('of_')}",
    `context["of_${node}"] = hashlib.sha256((json.dumps(found) + "${text}").encode()).hexdigest()[:12]`,
  ].join("\n");
}

type Step =
  | { do: "change"; id: string; text: number }
  | { do: "join" | "cut"; pair: { from: string; to: string } }
  | { do: "run" }
  | { do: "alone"; id: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("change" as const), id, text: fc.nat(9) }),
  fc.record({ do: fc.constant("join" as const), pair: fc.constantFrom(...pairs) }),
  fc.record({ do: fc.constant("cut" as const), pair: fc.constantFrom(...pairs) }),
  fc.record({ do: fc.constant("run" as const) }),
  fc.record({ do: fc.constant("alone" as const), id }),
);

const sequence = fc.record({
  edges: fc.subarray(pairs, { minLength: 2 }),
  steps: fc.array(step, { minLength: 4, maxLength: 7 }),
});

async function take(session: string, one: Step): Promise<void> {
  const at = `/sessions/${session}`;
  if (one.do === "change") {
    const body = { code: codeOf(one.id, one.text) };
    expect((await api.call(`PATCH ${at}/nodes/${one.id}`, { body })).status).toBe(200);
  }
  if (one.do === "join") await api.call(`POST ${at}/edges`, { body: one.pair });
  if (one.do === "cut") await api.call(`DELETE ${at}/edges?from=${one.pair.from}&to=${one.pair.to}`);
  if (one.do === "run" || one.do === "alone") {
    const { status, body } = await api.call(`POST ${at}${one.do === "run" ? "" : `/nodes/${one.id}`}/run`);
    expect([status, body.detail, body.error]).toEqual([200, undefined, null]);
  }
}

/**
 * Publishes the nodes of the session as a new workflow, for which no outcome can be reused. Runs it and returns the
 * values that the nodes set.
 */
async function everythingAgain(session: string, workflow: string): Promise<Record<string, unknown>> {
  const published = await api.call(`POST /sessions/${session}/publish`, { body: { workflow } });
  expect([published.status, published.body.detail]).toEqual([201, undefined]);
  const { body } = await api.call(`POST /workflows/${workflow}/execute?wait=25`, { body: {} });
  expect(body.status).toBe("completed");
  return body.context;
}

/**
 * The model test in test/service/sessions checks a thousand random sequences. This test checks fewer sequences, but
 * with real state machines and Python.
 */
it("a session marks the output of a node as up to date only if a run of all nodes would give the same output", async () => {
  let [sessions, fresh] = [0, 0];
  await fc.assert(
    fc.asyncProperty(sequence, async ({ edges, steps }) => {
      const nodes = ids.map((node) => ({ id: node, type: "action", code: codeOf(node, 0) }));
      const { session_id: session } = (await api.call("POST /sessions", { body: { nodes, edges } })).body;
      for (const one of [{ do: "run" as const }, ...steps]) await take(session, one);
      const again = await everythingAgain(session, `again-${++sessions}`);
      const { outputs } = (await api.call(`GET /sessions/${session}/outputs`)).body;
      for (const { node_id, state, output } of outputs) {
        if (state === "stale") continue;
        fresh++;
        expect(output).toEqual({ [`of_${node_id}`]: again[`of_${node_id}`] });
      }
    }),
    { numRuns: 6, endOnFailure: true },
  );
  expect(fresh).toBeGreaterThan(5);
}, 300_000);
