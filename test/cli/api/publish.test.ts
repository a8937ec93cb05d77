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

it("sentAs sends the text as written, with the id of the folder", async () => {
  const { result, sent } = await publishing(state("ready"));
  expect(sent[0]?.text).toBe('{"definition":{"id":"a", "nodes": [], "x": 850.0 },"files":{"a.py":"x = 1"}}');
  expect(result).toMatchObject({ version: 3, status: "ready" });
});

it.each([
  ['{"id": "b"}', '{"definition":{"id": "b"},"files":{}}'],
  ['{"graph_definition": {}}', '{"definition":{"graph_definition": {}},"files":{}}'],
])("sentAs adds no id to %s", (text, expected) => {
  expect(renderJson(publishBody({ text, fileName: "workflow.json", files: {} }, "a"))).toBe(expected);
});

it("publishOnServer waits until runs can use the version", async () => {
  const { result } = await publishing(state("publishing"), state("publishing"), state("ready"));
  expect(result).toMatchObject({ status: "ready" });
});

it("publishOnServer says why a version cannot be used", async () => {
  const { result } = await publishing(state("publishing"), state("failed", { reason: "too many states" }));
  expect(result).toBe('"a" cannot be published: too many states - correct it');
});
