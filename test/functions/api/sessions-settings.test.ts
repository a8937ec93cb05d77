import { describe, expect, it } from "vitest";
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
});
