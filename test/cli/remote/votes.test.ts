import { afterEach, describe, expect, it, vi } from "vitest";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import { useApi } from "../../functions/api/support/api.ts";
import { asking } from "../../functions/api/support/flows.ts";
import { Terminal } from "../support/terminal.ts";

const api = useApi();

afterEach(() => vi.unstubAllEnvs());

/** Runs a command with an API key that an administrator has made for the identity of a person. */
async function as(key: string, ...argv: string[]): Promise<{ code: number; out: string }> {
  vi.stubEnv("NOVA_URL", api.url);
  vi.stubEnv("NOVA_API_KEY", key);
  vi.stubEnv("NO_COLOR", "1");
  const terminal = new Terminal();
  const code = await terminal.run(() => runCommandLine(argv));
  return { code, out: terminal.stdout.trim() + terminal.stderr.trim() };
}

async function keyOf(identity: string): Promise<string> {
  const { body } = await api.call("POST /keys", { body: { role: "admin" } });
  const made = await as(body.key, "keys", "create", "--role", "runner", "--identity", identity, "--json");
  const { key, identity: shown } = JSON.parse(made.out);
  expect(shown).toBe(identity);
  return key;
}

describe("the commands of a person who votes", () => {
  it("list the person's tasks, vote, withdraw a vote and delegate a task", async () => {
    const [start, ask, end] = asking.nodes;
    const approvers = { any: ["cfo@acme.com", "ceo@acme.com"], count: 2 };
    await api.call("PUT /workflows/asking", { body: { ...asking, nodes: [start, { ...ask, approvers }, end] } });
    const { body } = await api.call("POST /workflows/asking/execute", { body: {} });
    const { id } = await api.taskOf(body.execution_id);
    const [cfo, deputy, stranger] = [
      await keyOf("cfo@acme.com"),
      await keyOf("deputy@acme.com"),
      await keyOf("mallory@acme.com"),
    ];
    expect((await as(cfo, "tasks", "--mine")).out).toContain(id);
    expect((await as(stranger, "tasks", "--mine")).out).not.toContain(id);
    const refused = await as(stranger, "approve", id, "--choice", "approved", "--as", "cfo@acme.com");
    expect([refused.code === 0, refused.out]).toEqual([false, expect.stringContaining('may not answer "ask"')]);
    expect((await as(cfo, "approve", id, "--choice", "approved")).out).toMatch(
      /: approved; 1 more person has to agree$/,
    );
    expect((await as(cfo, "tasks", "--mine")).out).not.toContain(id);
    expect((await as(cfo, "withdraw", id)).out).toMatch(/^ask of exec_\w+: withdrawn$/);
    const delegated = await as(cfo, "delegate", id, "--to", "deputy@acme.com");
    expect(delegated.out).toMatch(/^ask of exec_\w+: deputy@acme.com votes instead of you$/);
    expect((await as(deputy, "tasks", "--mine")).out).toContain(id);
    expect((await as(deputy, "approve", id, "--choice", "approved")).out).toContain("1 more person has to agree");
  });
});
