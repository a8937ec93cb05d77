import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

beforeAll(async () => {
  const triggers = [
    { type: "webhook", id: "num", dedupe: "body.id" },
    { type: "webhook", id: "deep" },
    { type: "webhook", id: "large" },
  ];
  await api.call("POST /workflows", { body: { ...asking, triggers } });
});

async function recordsOf(trigger: string) {
  const { body } = await api.call("GET /deliveries?workflow=asking");
  return body.items.filter((item: { trigger: string }) => item.trigger === trigger);
}

describe("a hook", () => {
  it("starts a run for each large id, and one run for the same, whatever parameters come along", async () => {
    const send = (id: string) => api.call("POST /hooks/num?a=1&a=2", { key: null, body: `{"id":${id}}` });
    const [first, second, again] = [
      await send("820982911946154508"),
      await send("820982911946154509"),
      await send("820982911946154508"),
    ];
    expect(again.body.execution_id).toBe(first.body.execution_id);
    expect(second.body.execution_id).not.toBe(first.body.execution_id);
    const { text } = await api.call(`GET /executions/${second.body.execution_id}`);
    expect(text).toContain('"id":820982911946154509}');
    const { body: started } = await api.call("GET /executions?trigger=num");
    const ids = [second, first].map(({ body }) => body.execution_id);
    expect(started.items).toMatchObject(ids.map((execution_id) => ({ execution_id, trigger: "num" })));
    expect((await api.call(`GET /executions/${ids[0]}/verify`)).body).toMatchObject({ problem: null });
  });

  it.each([
    ["deep", nested(600), /600 levels deep, at most 501 are taken - make it flatter/],
    [
      "large",
      JSON.stringify("x".repeat(4_400_000)),
      /at most 4194304 are taken - send less at once, or where it can be/,
    ],
  ])("that is sent what is too %s answers 413, and has a record of it", async (hook, body, reason) => {
    const answer = await api.call(`POST /hooks/${hook}`, { key: null, body });
    expect([answer.status, answer.body.detail]).toEqual([413, expect.stringMatching(reason)]);
    expect(await recordsOf(hook)).toMatchObject([{ status: "refused", reason: answer.body.detail }]);
  });
});
