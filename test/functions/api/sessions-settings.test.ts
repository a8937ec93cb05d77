import { describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();

const changeSettings = (id: string, changes: object) =>
  api.call(`POST /sessions/${id}/edits`, { body: { operations: [{ op: "change_settings", changes }] } });

describe("a change of a draft's settings", { timeout: 60_000 }, () => {
  it("is refused if the draft becomes larger than 2 MB", async () => {
    const { session_id: id } = (await api.call("POST /sessions", { body: {} })).body;
    const settings = { description: "x".repeat(2 * 1024 * 1024) };
    const sentence = /a session holds at most 2097152 bytes/;
    await expectRefusal(changeSettings(id, settings), 422, sentence);
    await expectRefusal(api.call(`PATCH /sessions/${id}`, { body: { settings } }), 422, sentence);
    expect((await api.call(`GET /sessions/${id}`)).body.settings).toEqual({});
  });

  it("removes triggers and on_failure from the published workflow if it sets both to null", async () => {
    const triggers = [{ type: "schedule", every: "1d" }];
    const on_failure = { webhook: "https://pager.example.com/" };
    const body = { ...inARow("watched", { a: "pass" }), triggers, on_failure };
    const made = await api.call("POST /workflows", { body });
    expect([made.status, made.body.detail]).toEqual([201, undefined]);
    const { session_id: id } = (await api.call("POST /sessions", { body: { workflow: "watched" } })).body;
    const changed = await changeSettings(id, { triggers: null, on_failure: null });
    expect([changed.status, changed.body.detail]).toEqual([200, undefined]);
    expect((await api.call(`POST /sessions/${id}/publish`)).body).toMatchObject({ id: "watched", version: 2 });
    const { definition } = (await api.call("GET /workflows/watched")).body;
    expect(definition.triggers).toBeUndefined();
    expect(definition.onFailure ?? {}).toEqual({});
  });
});

describe("the triggers of a draft that is made from a workflow", { timeout: 60_000 }, () => {
  const on_failure = { webhook: { url: "https://pager.example.com/" } };
  const added = { type: "event", id: "till", pattern: { source: ["till"] } };

  async function publishWatched(id: string) {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    const triggers = [
      { type: "schedule", id: "night", every: "1d", context: "CONTEXT" },
      { type: "event", id: "shop", client: "acme", pattern: { source: ["shop"] } },
    ];
    const text = JSON.stringify({ ...inARow(id, { a: "pass" }), triggers, on_failure });
    const digits = text.replace('"CONTEXT"', '{"n": 12345678901234567890, "p": 850.0}');
    expect((await api.call("POST /workflows", { body: digits })).status).toBe(201);
  }
  const make = async (body: object, key?: string) =>
    (await api.call("POST /sessions", { body, ...(key !== undefined && { key }) })).body;
  async function publishAs(session: string, workflow: string) {
    const body = { workflow };
    expect((await api.call(`POST /sessions/${session}/publish`, { body })).body).toMatchObject({ version: 2 });
    const { text, body: found } = await api.call(`GET /workflows/${workflow}`);
    return { text, definition: found.definition };
  }

  it("are in its settings with exact numbers, and stay when a caller adds a trigger", async () => {
    await publishWatched("kept");
    const { session_id: id, settings } = await make({ workflow: "kept" });
    expect(settings).toMatchObject({ triggers: [{ id: "night", every: 86400 }, { id: "shop" }], on_failure });
    const all = { ...settings, triggers: [...settings.triggers, added] };
    expect((await api.call(`PATCH /sessions/${id}`, { body: { settings: all } })).status).toBe(200);
    const { definition, text } = await publishAs(id, "kept");
    expect(definition.triggers.map((one: { id: string }) => one.id)).toEqual(["night", "shop", "till"]);
    expect(definition.onFailure).toBeDefined();
    expect(text).toMatch(/12345678901234567890.*850\.0/);
  });

  it("stay if an API key of one client adds other triggers, although it cannot see them", async () => {
    await publishWatched("shared");
    const key = await api.key("editor", "acme");
    const { session_id: id, settings } = await make({ workflow: "shared" }, key);
    expect(settings).toMatchObject({ triggers: [{ id: "shop" }] });
    expect([settings.triggers.length, settings.on_failure]).toEqual([1, undefined]);
    const patch = (settings: object) => api.call(`PATCH /sessions/${id}`, { key, body: { settings } });
    const changed = await patch({ ...settings, triggers: [added] });
    expect(changed.body.settings.triggers).toEqual([{ ...added, client: "acme" }]);
    const edit = (changes: object) =>
      api.call(`POST /sessions/${id}/edits`, { key, body: { operations: [{ op: "change_settings", changes }] } });
    expect((await edit({ timeout: 60 })).status).toBe(200);
    await expectRefusal(edit({ on_failure: null }), 403, /"on_failure" is for the runs of all clients/);
    await expectRefusal(
      patch({ triggers: [{ ...added, client: "other" }] }),
      403,
      /only triggers with "client": "acme"/,
    );
    await expectRefusal(patch({ triggers: [{ type: "mail", address: "bills" }] }), 403, /use a key for all clients/);
    await expectRefusal(patch({ triggers: "daily" }), 422, /not a list of objects/);
    const { definition } = await publishAs(id, "shared");
    expect(definition.triggers.map((one: { id: string }) => one.id)).toEqual(["till", "night"]);
    expect(definition.onFailure).toBeDefined();
  });

  it("are in the settings after the draft is published as the next version of a workflow, and leave the outputs fresh", async () => {
    await publishWatched("later");
    const { session_id: id } = await make({ nodes: [{ id: "a", code: "pass" }] });
    await api.call(`PUT /sessions/${id}/nodes/a/output`, { body: { output: { a: 1 } } });
    await publishAs(id, "later");
    const { settings, nodes } = (await api.call(`GET /sessions/${id}`)).body;
    expect(settings).toMatchObject({ triggers: [{ id: "night" }, { id: "shop" }], on_failure });
    expect(nodes).toMatchObject([{ node_id: "a", state: "fresh" }]);
  });
});

describe("the removal of a node from a draft", { timeout: 60_000 }, () => {
  const agent = (id: string, tools: string[]) => ({ id, type: "action", executor: "agent", prompt: "Pay", tools });
  const nodes = [
    { id: "code", type: "action", code: "pass", fallback: "first" },
    agent("first", ["pay", "shared"]),
    agent("second", ["shared"]),
    ...["pay", "shared"].map((id) => ({ id, type: "action", code: "pass", description: id })),
  ];
  const ways = {
    "DELETE of the node": (id: string) => api.call(`DELETE /sessions/${id}/nodes/code`),
    "an edit": (id: string) =>
      api.call(`POST /sessions/${id}/edits`, { body: { operations: [{ op: "remove_node", id: "code" }] } }),
  };

  it.each(Object.entries(ways))(
    "by %s removes the fallback and the tools that no other node has",
    async (_, remove) => {
      const { session_id: id } = (await api.call("POST /sessions", { body: { nodes } })).body;
      expect((await remove(id)).status).toBe(200);
      const { nodes: steps, beside, changes } = (await api.call(`GET /sessions/${id}`)).body;
      const idsOf = (all: { node_id: string }[]) => all.map(({ node_id }) => node_id);
      expect([idsOf(steps), idsOf(beside)]).toEqual([["second"], ["shared"]]);
      expect(changes.at(-1).what).toContain('node "code" was deleted, with "first", "pay"');
    },
  );
});
