import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHttpApi } from "@nova/aws-local/http-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Console, openConsole } from "../../../packages/local/src/console/open-console.ts";

let folder: string;
let pages: Console;
let server: Awaited<ReturnType<typeof openHttpApi>>;
const failures: unknown[] = [];
let isBuilt = true;
const env: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-console-"));
  await mkdir(join(folder, "dist/assets"), { recursive: true });
  await writeFile(join(folder, "dist/index.html"), "<!doctype html>the page");
  await writeFile(join(folder, "dist/assets/app-1a2b.js"), "export {};");
  await writeFile(join(folder, "secret.js"), "a secret");
  pages = openConsole({
    apiKey: "nova_key",
    blobOrigin: "http://127.0.0.1:1",
    env,
    onFailure: (error) => failures.push(error),
    async folder() {
      if (!isBuilt) throw new RangeError("it cannot be built");
      return join(folder, "dist");
    },
  });
  const handler = async () => ({ statusCode: 200, headers: { "content-type": "text/plain" }, body: "the API" });
  server = await openHttpApi({ handler, pages: pages.serve });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function get(path: string, accept = "text/html,*/*", init: RequestInit = {}): Promise<Response> {
  return fetch(server.url + path, { redirect: "manual", headers: { accept }, ...init });
}

describe("the console at the address of the local API", () => {
  it.each([
    ["/", "text/html,application/xhtml+xml", 302],
    ["/console", "*/*", 302],
    ["/", "application/json", 200],
    ["/executions", "text/html", 200],
  ])("answers a request for %s that accepts %s with the status %i", async (path, accept, status) => {
    const answer = await get(path, accept);
    expect(answer.status).toBe(status);
    if (status === 302) expect(answer.headers.get("location")).toBe("/console/");
    else expect(await answer.text()).toBe("the API");
  });

  it.each(["/console/", "/console/runs/exec_1?node=a", "/console/workflows"])(
    "shows its only HTML page at %s",
    async (path) => {
      const answer = await get(path);
      expect(await answer.text()).toBe("<!doctype html>the page");
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("no-cache");
    },
  );

  it("lets browsers cache files forever if the file names contain a hash", async () => {
    const answer = await get("/console/assets/app-1a2b.js");
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect(await answer.text()).toBe("export {};");
    expect((await get("/console/assets/other.js")).status).toBe(404);
  });

  it.each([
    "/console/..%2fsecret.js",
    "/console/assets/..%2f..%2fsecret.js",
    "/console/../secret.js",
    "/console//secret.js",
  ])("returns no file from outside its folder: %s", async (path) => {
    expect(await (await get(path)).text()).not.toContain("a secret");
  });

  it("runs only its own scripts, may not be shown in a frame, and sends no referrer", async () => {
    const { headers } = await get("/console/");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("connect-src 'self' http://127.0.0.1:1");
    expect(policy).not.toMatch(/unsafe|\*|data:/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("exchanges the code in a link for the API key only once, and refuses every other text", async () => {
    const [, code] = pages.link(server.url).split("/console/#code=");
    const exchange = (body: string) => get("/console/session", "*/*", { method: "POST", body });
    for (const wrong of ["", "x".repeat(43), `${code}x`, "x".repeat(5000)]) {
      const refused = await exchange(wrong);
      expect([refused.status, await refused.text()]).toEqual([401, expect.not.stringContaining("nova_key")]);
    }
    const taken = await exchange(code as string);
    expect([taken.status, await taken.json()]).toEqual([200, { api_key: "nova_key" }]);
    expect((await exchange(code as string)).status).toBe(401);
  });

  it("offers only API keys to sign in, unless environment variables name an issuer and its client id", async () => {
    expect(await (await get("/console/config.json")).json()).toEqual({});
    env.NOVA_JWT_ISSUER = "https://login.example.com/tenant";
    expect(await (await get("/console/config.json")).json()).toEqual({});
    env.NOVA_CONSOLE_CLIENT_ID = "console";
    const answer = await get("/console/config.json");
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.json()).toEqual({
      issuer: "https://login.example.com/tenant",
      client_id: "console",
      audience: "nova",
    });
    const policy = (await get("/console/")).headers.get("content-security-policy");
    expect(policy).toContain("connect-src 'self' http://127.0.0.1:1 https://login.example.com;");
    env.NOVA_CONSOLE_TOKEN_ORIGIN = "https://tokens.example.com/path";
    const { token_origin } = (await (await get("/console/config.json")).json()) as { token_origin: string };
    expect(token_origin).toBe("https://tokens.example.com");
    const wider = (await get("/console/")).headers.get("content-security-policy");
    expect(wider).toContain("https://login.example.com https://tokens.example.com;");
  });

  it("says why a browser cannot show it if its files are missing, and the API stays available", async () => {
    isBuilt = false;
    const answer = await get("/console/");
    isBuilt = true;
    expect([answer.status, await answer.text()]).toEqual([500, "the console cannot be shown: it cannot be built"]);
    expect(failures).toHaveLength(1);
    expect(await (await get("/executions")).text()).toBe("the API");
  });
});
