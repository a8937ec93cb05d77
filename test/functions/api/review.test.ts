import type { Generation } from "@nova/engine";
import { beforeAll, describe, expect, it } from "vitest";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const [key, old, written] = ["a", "b", "c"].map((letter) => letter.repeat(64)) as [string, string, string];

beforeAll(async () => {
  await api.call("POST /workflows", { body: asking });
});

/** Stores generated code as the pipeline of models does. */
async function keep(node: string, more: Partial<Generation> = {}): Promise<Generation> {
  const generation: Generation = {
    format: 1,
    workflowId: asking.id,
    node,
    client: null,
    key,
    codeHash: written,
    code: "context['x'] = 1\n",
    ingredients: {
      prompt: "Set x.",
      node_type: "action",
      edges: [],
      generator: "1",
      settings: "",
      template: "1",
      reads: {},
      guides: {},
      model: "default",
      requirements: [],
      lib: {},
    },
    status: "candidate",
    origin: "generated",
    model: "gpt-6-luna",
    createdAt: "2026-11-22T10:00:00.000Z",
    cost: { usd: 0.001, tokens_input: 1, tokens_cached: 0, tokens_output: 1 },
    ...more,
  };
  await api.ports.generations.create(generation);
  return generation;
}

function review(node: string, verdict: string, more: object = {}, apiKey?: string) {
  const body = { node, key, code_hash: written, verdict, ...more };
  return api.call(`POST /workflows/${asking.id}/generations/review`, {
    body,
    ...(apiKey !== undefined && { key: apiKey }),
  });
}

const kept = async (node: string) =>
  Object.fromEntries(
    (await api.ports.generations.of(asking.id, node, null)).map(({ codeHash, status }) => [codeHash, status]),
  );

describe("a review of generated code", () => {
  it("pins approved code in place of earlier code, and records who approved it", async () => {
    await keep("approve");
    await keep("approve", { codeHash: old, status: "pinned" });
    await keep("approve", { codeHash: old, status: "pinned", key: "d".repeat(64) });
    const { status, body } = await review("approve", "approved");
    expect([status, body]).toMatchObject([200, { status: "pinned", approved: { at: expect.any(String) } }]);
    const all = await api.ports.generations.of(asking.id, "approve", null);
    expect(all.map(({ key: one, codeHash, status: is }) => [one === key, codeHash === written, is]).sort()).toEqual([
      [false, false, "pinned"],
      [true, false, "replaced"],
      [true, true, "pinned"],
    ]);
    expect((await review("approve", "approved")).body.approved).toEqual(body.approved);
  });

  it("keeps rejected code in the records, but does not run it again", async () => {
    await keep("reject", { status: "pinned" });
    expect((await review("reject", "rejected")).body.status).toBe("replaced");
    expect(await kept("reject")).toEqual({ [written]: "replaced" });
  });

  it("cannot reject code that a person has approved", async () => {
    await keep("keep", { status: "pinned", approved: { by: "ada", at: "2026-11-22T10:00:00.000Z" } });
    await expectRefusal(review("keep", "rejected"), 409, expect.stringContaining("ada has approved this code"));
  });

  it("is recorded in the audit log only once, even if it is repeated", async () => {
    await keep("audited");
    await review("audited", "approved");
    await review("audited", "approved");
    const { items } = (await api.call("GET /audit")).body;
    const deeds = items.filter(({ detail }: { detail: { node?: string } }) => detail.node === "audited");
    expect(deeds).toMatchObject([{ action: "code.approved", subject: asking.id, detail: { code_hash: written } }]);
  });

  it("needs an editor with access to the code's clients", async () => {
    await keep("role");
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    await keep("role", { client: "acme" });
    expect((await review("role", "approved", {}, await api.key("runner"))).status).toBe(403);
    const ofAcme = await api.key("editor", "acme");
    expect((await review("role", "approved", {}, ofAcme)).status).toBe(403);
    expect((await review("role", "approved", { client_slug: "other" }, ofAcme)).status).toBe(404);
    expect((await review("role", "approved", { client_slug: "acme" }, ofAcme)).status).toBe(200);
    expect(await kept("role")).toEqual({ [written]: "candidate" });
  });

  it("is refused if the code, the node or the workflow does not exist", async () => {
    await keep("there");
    expect((await review("there", "approved", { code_hash: old })).status).toBe(404);
    expect((await review("there", "approved", { key: old })).status).toBe(404);
    expect((await review("nobody", "approved")).body.detail).toContain('keeps no such code for node "nobody"');
    expect((await review("there", "perhaps")).status).toBe(422);
    expect((await api.call("POST /workflows/none/generations/review", { body: {} })).status).toBe(422);
  });
});
