import { rm } from "node:fs/promises";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder } from "../cli/support/nova.ts";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { root } from "../support/imports.ts";
import { type Connected, connectThrough, type Era } from "./support/connect.ts";

const api = useApi();
let folder: string;

beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts `nova mcp` and connects a client to its stdin and stdout. */
function connectCommand(cwd: string, own: Record<string, string>, era: Era = "of 2026"): Promise<Connected> {
  const args = [join(root, "packages/cli/bin/nova.js"), "mcp"];
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...own };
  return connectThrough(new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: "ignore" }), era);
}

describe("nova mcp", { timeout: 120_000 }, () => {
  async function openCloudFor(era: Era): Promise<void> {
    await using connected = await connectCommand(folder, {}, era);
    await connected.call("publish", { example: "report" });
    const context = '{"sales":[{"region":"North","amount":"1.10"},{"region":"North","amount":"2.20"}]}';
    const ran = await connected.call("run", { workflow: "report", context });
    expect([ran.verdict, JSON.parse(ran.context).total]).toEqual(["ok", "3.30"]);
    const { entries } = await connected.call("trace", { execution_id: ran.execution_id });
    expect(entries.map(({ node }: { node: string }) => node)).toEqual(
      expect.arrayContaining(["each_region", "sum_up"]),
    );
  }

  it("opens the local cloud of its folder for a client of the protocol of 2026", () => openCloudFor("of 2026"));

  it("opens the local cloud of its folder for a client of the protocol of 2025", { tags: ["deep"] }, () =>
    openCloudFor("of 2025"),
  );

  it("uses the server in NOVA_URL with the rights of the key", async () => {
    await api.cloud.publish(inARow("there", { work: 'context["n"] = 1' }));
    const own = { NOVA_URL: api.url, NOVA_API_KEY: await api.key("viewer") };
    await using connected = await connectCommand(folder, own);
    expect((await connected.call("find")).workflows).toMatchObject([{ id: "there" }]);
    expect(await connected.refusal("run", { workflow: "there" })).toMatch(/^this needs the role runner/);
  });

  it("is a guest of the local cloud that another process owns", async () => {
    const own = { NOVA_DATA_DIR: api.cloud.dataDir };
    await using connected = await connectCommand(folder, own);
    const ran = await connected.call("run", { workflow: "there" });
    expect([ran.verdict, ran.context]).toEqual(["ok", '{"n":1}']);
    expect((await api.call(`GET /executions/${ran.execution_id}`)).body.status).toBe("completed");
  });
});
