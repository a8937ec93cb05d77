import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type LocalApi, openApi } from "@nova/local";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestCloud } from "../support/cloud.ts";
import { root } from "../support/imports.ts";

const program = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
let proxy: Server;
let api: LocalApi;
let close: () => Promise<void>;
let folder: string;

/**
 * The conformance program cannot send an API key, so this proxy adds one. The proxy forwards all other headers
 * unchanged.
 */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-conformance-"));
  const cloud = await openTestCloud();
  api = await openApi(cloud, { port: 0 });
  close = async () => {
    await api.close();
    await cloud.close();
  };
  const authorization = `Bearer ${api.key.text}`;
  const { hostname, port } = new URL(api.url);
  proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forwarded = request({ hostname, port, method, path, headers: { ...headers, authorization } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  proxy.close();
  await close();
  await rm(folder, { recursive: true });
});

// The other scenarios need tools and prompts of a special test server, which the authors of the program provide.
it.each(["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"])(
  "POST /mcp passes the scenario %s of the official conformance program of the protocol",
  { tags: ["deep"], timeout: 60_000 },
  async (scenario) => {
    const url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
    const args = [program, "server", "--url", url, "--scenario", scenario, "--output-dir", folder];
    const ran: Promise<{ code?: number; stdout: string }> = promisify(execFile)(process.execPath, args, {
      cwd: folder,
    });
    const { code = 0, stdout } = await ran.catch((error: { code?: number; stdout: string }) => error);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Passed: [1-9]\d*\/[1-9]\d*, 0 failed/)]);
  },
);
