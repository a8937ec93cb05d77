import { createClient } from "@nova/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Reply, ScriptedServer } from "./support/scripted-server.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const lost = new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });

/**
 * Sends a request to a server that gives these replies. Returns the result, and the requests that the server received.
 */
async function ask(request: string, replies: (Reply | Error)[]) {
  const server = new ScriptedServer(...replies.map((reply) => [request, reply] as [string, Reply | Error]));
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const calls = {
    "POST /keys": () => nova.keys.create({ role: "viewer" }),
    "GET /health": () => nova.health(),
    "PATCH /clients/a": () =>
      nova.ask(nova.api.PATCH("/clients/{slug}", { params: { path: { slug: "a" } }, body: { name: "A" } })),
  };
  const asked = calls[request as keyof typeof calls]().catch((error: Error) => error);
  await vi.runAllTimersAsync();
  const result = await asked;
  server.expectDone();
  return { result, sent: server.sent };
}

describe("a request of the typed client that gets no answer", () => {
  it("is repeated with the same Idempotency-Key", async () => {
    const { result, sent } = await ask("POST /keys", [lost, { status: 201, body: { id: "key_1" } }]);
    expect(result).toEqual({ id: "key_1" });
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(sent[1]?.text).toBe(sent[0]?.text);
  });

  it("fails with the reason after four attempts", async () => {
    const { result } = await ask("GET /health", [lost, lost, lost, lost]);
    expect(result).toMatchObject({
      name: "ApiUnreachable",
      message: "https://nova.example.com cannot be reached (ECONNRESET) - check the URL, and that it is up",
    });
  });

  it("is not repeated if the repetition could have a second effect", async () => {
    const { result } = await ask("PATCH /clients/a", [lost]);
    expect(result).toMatchObject({ name: "ApiUnreachable" });
  });
});

describe("a server that answers the typed client with an error", () => {
  it.each([429, 502, 503, 504])("gets the request a second time after an answer with the status %i", async (status) => {
    const { result } = await ask("GET /health", [{ status, body: "later" }, { body: { status: "ok" } }]);
    expect(result).toEqual({ status: "ok" });
  });

  it("determines the pause before the second request by the header Retry-After", async () => {
    const began = Date.now();
    await ask("GET /health", [{ status: 429, headers: { "retry-after": "7" } }, { body: {} }]);
    expect(Date.now() - began).toBe(7_000);
  });

  it("does not get a request a second time after an answer with the status 500", async () => {
    const { result } = await ask("GET /health", [{ status: 500, body: "broken" }]);
    expect(result).toMatchObject({ status: 500 });
  });
});
