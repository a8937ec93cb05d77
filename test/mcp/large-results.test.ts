// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { tools } from "@nova/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { type Connected, connectOverHttp } from "./support/connect.ts";

const api = useApi();
let editor: Connected;

const maxBytes = 20 * 1024;
const long = "€".repeat(200);
/** Hosts with a port. Each causes a warning that names the host. */
const hosts = Array.from({ length: 10 }, (_, index) => `${"k".repeat(60)}.host${index}.example.com:8080`);
const guarded = Array.from({ length: 20 }, (_, index) => {
  return { id: `n${index}`, type: "action", code: 'context["a"] = 1', network: { allow: hosts } };
});
const warned = {
  id: "warned",
  nodes: [{ id: "start", type: "start" }, ...guarded, { id: "end", type: "end" }],
  edges: ["start", ...guarded.map(({ id }) => id)].map((from, index) => ({ from, to: guarded[index]?.id ?? "end" })),
};
const setsMany = `for i in range(100):\n    context["${"k".repeat(250)}" + str(i)] = RATE`;
const approvals = {
  id: "each",
  type: "map",
  items: "list",
  max_concurrency: 20,
  nodes: [
    { id: "ask", type: "approval", message: "{{item}}", choices: ["yes", "no"] },
    { id: "note", type: "action", code: 'context["note"] = 1' },
  ],
  edges: [{ from: "ask", to: "note", condition: "default" }],
};
const aroundMap = (id: string, map: object) => ({
  id,
  nodes: [{ id: "start", type: "start" }, map, { id: "end", type: "end" }],
  edges: [
    { from: "start", to: "each" },
    { from: "each", to: "end" },
  ],
});

interface Large {
  asked: Record<string, unknown>;
  /** A text that only the linked resource contains. */
  holds: string | RegExp;
}
const large: Record<string, Large> = {};

beforeAll(async () => {
  editor = await connectOverHttp(api.url, await api.key("editor"));
  const call = editor.call;
  for (let index = 0; index < 50; index += 1)
    await api.call("POST /sessions", { body: { name: `${long.slice(9)}${index}` } });
  large.find = { asked: { query: "€" }, holds: `${long.slice(9)}0` };

  const code = `# ${"x".repeat(30_000)} the end`;
  await api.cloud.publish(inARow("long-code", { one: `context["a"] = 1\n${code}`, two: 'context["b"] = 2' }));
  large.read = { asked: { workflow: "long-code" }, holds: code };

  await api.cloud.publish(warned);
  const { draft } = await call("edit", { workflow: "warned", operations: [] });
  const settings = { op: "change_settings", changes: { labels: { order: "{{order}}" } } };
  large.validate = { asked: { draft }, holds: "n19" };
  large.edit = { asked: { draft, operations: [settings] }, holds: "n19" };
  large.publish = { asked: { draft, workflow: "warned-again" }, holds: "n19" };

  await api.cloud.publish(inARow("plain", { one: 'context["a"] = 1' }));
  const context = JSON.stringify({ text: long.repeat(60), last: "the end" });
  large.run = { asked: { workflow: "plain", context }, holds: "the end" };

  await api.cloud.publish(inARow("broken", { one: `print("${long}" * 300)\nraise ValueError("${long}" * 300)` }));
  const failed = await Promise.all(Array.from({ length: 20 }, () => call("run", { workflow: "broken", context })));
  large.runs = { asked: { workflow: "broken" }, holds: /"next_cursor"/ };
  const { execution_id } = failed[0];
  large.trace = { asked: { execution_id, node: "one" }, holds: "the end" };
  large.restart = { asked: { execution_id, dry_run: false }, holds: "the end" };

  await api.cloud.publish(aroundMap("asks", approvals));
  const list = Array.from({ length: 20 }, (_, index) => `${long.repeat(4)}${index}`);
  const waiting = await call("run", { workflow: "asks", context: JSON.stringify({ list }), wait_seconds: 20 });
  large.tasks = { asked: { execution_id: waiting.execution_id }, holds: /"more":false}$/ };

  const rated = (rate: string) => ({
    ...inARow("rated", {}),
    nodes: [
      { id: "start", type: "start" },
      { id: "rate", type: "action", code: setsMany.replace("RATE", rate), effects: false },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "rate" },
      { from: "rate", to: "end" },
    ],
  });
  await api.cloud.run(await api.cloud.publish(rated("1")), "{}");
  await api.cloud.publish(rated("2"));
  large.test = { asked: { workflow: "rated" }, holds: `${"k".repeat(250)}99` };
}, 120_000);
afterAll(() => editor[Symbol.asyncDispose]());

describe("a result with more than 20 KB", () => {
  // The result of `answer` names only one run, one node and one choice, so it is never large.
  it.each(tools.map(({ name }) => name).filter((name) => name !== "answer"))(
    "of the tool %s is shortened, and links to a resource that contains the largest part in full",
    async (name) => {
      const { asked, holds } = large[name] as Large;
      const { content, structuredContent, isError } = await editor.client.callTool({ name, arguments: asked });
      expect([isError, content[0]]).toEqual([undefined, { type: "text", text: JSON.stringify(structuredContent) }]);
      expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThanOrEqual(maxBytes);
      const [link] = content.filter(({ type }) => type === "resource_link") as { uri: string }[];
      const { contents } = await editor.client.readResource({ uri: link?.uri ?? "no link" });
      const { text } = contents[0] as { text: string };
      expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes);
      expect(text).toMatch(holds);
    },
  );
});

type Linked = { uri: string; name: string; description: string };

async function linksOf(name: string, asked: Record<string, unknown>) {
  const { content } = await editor.client.callTool({ name, arguments: asked });
  const links = content.filter(({ type }) => type === "resource_link") as unknown as Linked[];
  return { links, texts: content.flatMap((part) => ("text" in part ? [part.text as string] : [])) };
}

it("a link names the contents of its resource, and a failed run links to its failed entry with the full error", async () => {
  const { links } = await linksOf("run", { workflow: "broken", context: "{}" });
  expect(links.map(({ name, description }) => [name, description])).toEqual(
    ["the context", "the failed entry"].map((part) => [
      part,
      `The result was too large and was cut. This resource has all of ${part}.`,
    ]),
  );
  const { contents } = await editor.client.readResource({ uri: links[1]?.uri ?? "no link" });
  const { error_message } = JSON.parse((contents[0] as { text: string }).text);
  const { body } = await api.call(`GET /executions/${/exec_\w+/.exec(links[1]?.uri ?? "")?.[0]}`);
  expect(error_message === body.error.message && Buffer.byteLength(error_message) > maxBytes).toBe(true);
});

it("a refused run of a draft links to its findings", async () => {
  const operations = guarded.map(({ id, network }) => ({
    op: "add_node",
    node: { id, type: "action", code: "(", network },
  }));
  const { draft } = await editor.call("edit", { operations });
  const { links } = await linksOf("run", { draft });
  expect(links.map(({ name }) => name)).toEqual(["the findings of the draft"]);
  const { contents } = await editor.client.readResource({ uri: links[0]?.uri ?? "no link" });
  expect((contents[0] as { text: string }).text).toContain("n19");
});

it("the result of a call with more than 2 KB of arguments has no link, and says how to get the rest", async () => {
  const { links, texts } = await linksOf("validate", { definition: JSON.stringify(warned) });
  expect([links, texts.slice(1)]).toEqual([[], [expect.stringMatching(/no resource has the rest.*make a draft/)]]);
});

it("a resource whose arguments are not JSON is not found", async () => {
  const asked = editor.client.readResource({ uri: "nova://results/find?asked=%7B" });
  await expect(asked).rejects.toThrow(/no tool that only reads takes these arguments/);
});

it("a resource cannot repeat a call of a tool that changes something", async () => {
  const uri = `nova://results/publish?asked=${encodeURIComponent('{"example":"invoice"}')}`;
  await expect(editor.client.readResource({ uri })).rejects.toThrow(/no tool that only reads/);
  const started = `nova://results/restart?asked=${encodeURIComponent(JSON.stringify(large.restart?.asked))}`;
  await expect(editor.client.readResource({ uri: started })).rejects.toThrow(/no tool that only reads/);
});
