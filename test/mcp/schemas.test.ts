import { InMemoryTransport } from "@modelcontextprotocol/client";
import { createClient } from "@nova/client";
import { createMcpServer, tools } from "@nova/mcp";
import { encode } from "gpt-tokenizer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connected, connectThrough } from "./support/connect.ts";

let connected: Connected;

beforeAll(async () => {
  const nova = createClient({ url: "http://nowhere.invalid", apiKey: "none" });
  const [mine, other] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ nova, maxWaitSeconds: 1 }).connect(other);
  connected = await connectThrough(mine, "of 2025");
});
afterAll(() => connected[Symbol.asyncDispose]());

describe("the tools of the server", () => {
  it("are at most 12, and their schemas take at most 5,000 tokens", async () => {
    const listed = await connected.client.listTools();
    expect(listed.tools.length).toBeLessThanOrEqual(12);
    expect(encode(JSON.stringify(listed.tools)).length).toBeLessThanOrEqual(5_000);
  });

  it("have schemas that give each value one type and that are never empty, as some clients need", async () => {
    const { tools: listed } = await connected.client.listTools();
    const text = JSON.stringify(listed);
    expect(text.match(/"type":\[|"additionalProperties":\{\}/g)).toBeNull();
    expect(text).toContain('{"anyOf":[{"type":"number"},{"type":"null"}]}');
  });

  it("have input and output schemas, and say whether they only read or may destroy", async () => {
    const { tools: listed } = await connected.client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const { name, description, inputSchema, outputSchema, annotations = {} } of listed) {
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, "object", "object"]);
      expect(description).not.toBe("");
      expect("readOnlyHint" in annotations || "destructiveHint" in annotations, name).toBe(true);
    }
    const reading = listed.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect(reading).toEqual(["find", "read", "validate", "runs", "trace", "tasks"]);
  });
});
