import { gzipSync } from "node:zlib";
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

describe("a webhook", () => {
  it("starts one run for each delivery id, even if two ids differ only in the last of 18 digits", async () => {
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
  ])("answers 413 to a body that is too %s, and records the refusal", async (hook, body, reason) => {
    const answer = await api.call(`POST /hooks/${hook}`, { key: null, body });
    expect([answer.status, answer.body.detail]).toEqual([413, expect.stringMatching(reason)]);
    expect(await recordsOf(hook)).toMatchObject([{ status: "refused", reason: answer.body.detail }]);
  });
});

describe("a request with a content-encoding", () => {
  const context = { name: "grüß", n: 1 };
  const send = (path: string, body: Buffer, encoding: string, key = "") =>
    fetch(api.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-encoding": encoding,
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: new Uint8Array(body),
    });

  it("starts a run with its decoded body, through a webhook and through the execute route", async () => {
    const byHook = await send("/hooks/deep", gzipSync(JSON.stringify(context)), "gzip");
    const body = gzipSync(JSON.stringify({ context }));
    const asked = await send("/workflows/asking/execute", body, "gzip", await api.key("runner"));
    expect([byHook.status, asked.status]).toEqual([202, 202]);
    const [hooked, executed] = await Promise.all(
      [byHook, asked].map(async (answer) => {
        const { execution_id } = (await answer.json()) as { execution_id: string };
        return (await api.call(`GET /executions/${execution_id}`)).body.context;
      }),
    );
    expect([hooked.webhook.body, executed]).toMatchObject([context, context]);
  });

  it("is refused with the reason if the encoding is unknown or the decoded body is too large", async () => {
    const key = await api.key("runner");
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const answers = [
      await send("/hooks/deep", Buffer.from("{}"), "zstd"),
      await send("/workflows/asking/execute", Buffer.from("{}"), "zstd", key),
      await send("/hooks/deep", bomb, "gzip"),
      await send("/workflows/asking/execute", bomb, "gzip", key),
    ];
    const details = await Promise.all(answers.map(async (one) => ((await one.json()) as { detail: string }).detail));
    expect(answers.map(({ status }) => status)).toEqual([422, 400, 422, 400]);
    expect(details.slice(0, 2).every((detail) => /"zstd" is not known/.test(detail))).toBe(true);
    expect(details.slice(2).every((detail) => /4194304 bytes once decoded/.test(detail))).toBe(true);
  });
});
