import { describe, expect, it } from "vitest";
import { contentText, headOf } from "../../../packages/engine/src/chain/entry.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

async function keyOf(identity: string): Promise<string> {
  const { body } = await api.call("POST /keys", { body: { role: "runner", identity } });
  return body.key;
}

async function starterOf(execution: string): Promise<unknown> {
  const { entry } = await api.ports.chain.read({ execution, scope: "", seq: 0 });
  const starter = entry?.contents.starter;
  return entry && starter && JSON.parse(await contentText(starter, headOf(entry), api.ports.blobs));
}

describe("an API key", () => {
  it("has the identity that an administrator sets, in lower case, and lists of keys show this identity", async () => {
    const { status, body } = await api.call("POST /keys", { body: { role: "runner", identity: "CFO@Acme.com" } });
    expect([status, body.identity]).toEqual([201, "cfo@acme.com"]);
    const { body: list } = await api.call("GET /keys");
    expect(list.items.find((one: { id: string }) => one.id === body.id).identity).toBe("cfo@acme.com");
    expect(list.items[0].identity).toBeNull();
  });

  const lookAlikes = ["cf\u043E@acme.com", "\u212Aim@acme.com", "cfo\u200B@acme.com"];

  it.each(["cfo", "cfo@acme.com, x@y.z", "a@b\nc", "", 7, ...lookAlikes])(
    "is not created with the identity %j",
    async (identity) => {
      const { length } = (await api.call("GET /keys")).body.items;
      await expectRefusal(
        api.call("POST /keys", { body: { role: "runner", identity } }),
        422,
        /^the body does not fit/,
      );
      expect((await api.call("GET /keys")).body.items).toHaveLength(length);
    },
  );
});

describe("entry 0 of a run", () => {
  it("names the person who started the run, with the identity that the API key proves", async () => {
    await api.call("PUT /workflows/asking", { body: asking });
    const key = await keyOf("cfo@acme.com");
    const { body } = await api.call("POST /workflows/asking/execute", { key, body: {} });
    expect(await starterOf(body.execution_id)).toEqual({
      name: "cfo@acme.com",
      ids: ["cfo@acme.com"],
      via: { kind: "key", key: expect.stringMatching(/^key_/) },
    });
    expect((await api.call(`GET /executions/${body.execution_id}`)).body.started_by).toBe("cfo@acme.com");
    const { body: verified } = await api.call(`GET /executions/${body.execution_id}/verify`);
    expect(verified.state).toBe("open");
    const { body: plain } = await api.call("POST /workflows/asking/execute", { body: {} });
    expect(await starterOf(plain.execution_id)).toBeUndefined();
    expect((await api.call(`GET /executions/${plain.execution_id}`)).body.started_by).toBeNull();
  });
});
