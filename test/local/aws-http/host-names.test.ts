import { request } from "node:http";
import { text } from "node:stream/consumers";
import { openApi } from "@nova/local";
import { describe, expect, it } from "vitest";
import { hostName } from "../../../packages/local/src/aws-http/host-names.ts";
import { httpServer, openServer } from "../../../packages/local/src/aws-http/http-server.ts";
import { openTestCloud } from "../../support/cloud.ts";

/** Status and body of a GET that names `host`. */
function ask(url: string, host: string): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, headers: { host }, setHost: false }, async (response) => {
      resolve([response.statusCode, await text(response)]);
    });
    sent.on("error", reject).end();
  });
}

async function statusOf(host: string, hosts: string[] = []): Promise<number | undefined> {
  const server = await openServer(httpServer((_, response) => response.end("in"), { hosts }));
  try {
    return (await ask(server.url, host))[0];
  } finally {
    await server.close();
  }
}

describe("a local server", () => {
  it.each([
    "localhost",
    "LocalHost:3000",
    "localhost.",
    "bucket.localhost:4566",
    "127.0.0.1:3000",
    "127.9.9.9",
    "[::1]:3000",
    "2130706433",
    "0x7f.1",
  ])("answers a request for %s", async (host) => expect(await statusOf(host)).toBe(200));

  it.each([
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "evil.example/127.0.0.1",
    "notlocalhost",
    "128.0.0.1",
    "0.0.0.0",
    "192.168.1.2",
    "[::2]",
    "[::ffff:10.0.0.1]",
    "a b",
    "",
  ])("refuses a request for %j", async (host) => expect([400, 421]).toContain(await statusOf(host)));

  it("answers a request for a name that it was given, in any letters and with any port", async () => {
    expect(await statusOf("Nova.Example.com:8443", ["nova.example.com"])).toBe(200);
    expect(await statusOf("x.nova.example.com", ["nova.example.com"])).toBe(421);
  });

  it("says in one sentence how the name can be allowed", async () => {
    const server = await openServer(httpServer((_, response) => response.end("in")));
    const [, body] = await ask(server.url, "evil.example");
    await server.close();
    expect(JSON.parse(body).message).toMatch(/^this server answers .*"evil.example" - .*--host/);
  });
});

describe("a local cloud", () => {
  it("refuses a foreign host name at every address that it opens", async () => {
    const cloud = await openTestCloud();
    const api = await openApi(cloud, { port: 0 });
    const urls = Object.values(cloud.environment).filter((value) => value.startsWith("http://127.0.0.1:"));
    const asked = [...new Set([...urls, api.url])].map((url) => ask(url, "evil.example"));
    const statuses = await Promise.all(asked).finally(async () => {
      await api.close();
      await cloud.close();
    });
    expect(statuses.length).toBeGreaterThanOrEqual(8);
    expect(new Set(statuses.map(([status]) => status))).toEqual(new Set([421]));
  });
});

describe("a host name", () => {
  it.each([
    ["nova.example.com", "nova.example.com"],
    ["Nova.Example.com:8443", "nova.example.com"],
    ["https://nova.example.com", undefined],
    ["nova.example.com/", undefined],
    ["a@b", undefined],
    ["", undefined],
  ])("of %j is %j", (written, name) => expect(hostName(written)).toBe(name));
});
