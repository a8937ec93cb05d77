import { createClient } from "@nova/client";
import { renderJson } from "@nova/engine";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { publishBody, publishOnServer } from "../../../packages/cli/src/api/client.ts";
import { type Reply, ScriptedServer } from "../../client/support/scripted-server.ts";

const source = { text: '{ "nodes": [], "x": 850.0 }', fileName: "workflow.json", files: { "a.py": "x = 1" } };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

async function publishing(...replies: Reply[]) {
  const [first, ...later] = replies;
  const looks = later.map((reply) => ["GET /workflows/a?version=3", reply] as [string, Reply]);
  const server = new ScriptedServer(["POST /workflows", first as Reply], ...looks);
  const nova = createClient({
    url: "https://nova.example.com",
    apiKey: "key",
    fetch: server.fetch,
    stringify: renderJson,
  });
  const published = publishOnServer(nova, source, "a").catch((error: Error) => error.message);
  await vi.runAllTimersAsync();
  const result = await published;
  server.expectDone();
  return { result, sent: server.sent };
}

const state = (status: string, more: object = {}): Reply => ({ body: { id: "a", version: 3, status, ...more } });

it("publishOnServer sends the definition as it is written, with the name of the folder as its id", async () => {
  const { result, sent } = await publishing(state("ready"));
  expect(sent[0]?.text).toBe('{"definition":{"id":"a", "nodes": [], "x": 850.0 },"files":{"a.py":"x = 1"}}');
  expect(result).toMatchObject({ version: 3, status: "ready" });
});

it.each([
  ['{"id": "b"}', '{"definition":{"id": "b"},"files":{}}'],
  ['{"graph_definition": {}}', '{"definition":{"graph_definition": {}},"files":{}}'],
])("publishBody adds no id to the definition %s", (text, expected) => {
  expect(renderJson(publishBody({ text, fileName: "workflow.json", files: {} }, "a"))).toBe(expected);
});

it("publishOnServer waits until runs can use the published version", async () => {
  const { result } = await publishing(state("publishing"), state("publishing"), state("ready"));
  expect(result).toMatchObject({ status: "ready" });
});

it("publishOnServer says why runs cannot use a version", async () => {
  const { result } = await publishing(state("publishing"), state("failed", { reason: "too many states" }));
  expect(result).toBe('"a" cannot be published: too many states - correct it');
});
