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

  it("removes the triggers and the receivers of failures of the published workflow with null", async () => {
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
