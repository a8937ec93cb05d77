import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { hostName, httpServer, openServer } from "../../packages/serve-local/src/http-server.ts";

/** The status and the body of a GET with the host name `host`. */
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

describe("a local server of NOVA", () => {
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
  ])("answers a request for the host name %s", async (host) => expect(await statusOf(host)).toBe(200));

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
  ])("refuses a request for the host name %j", async (host) => expect([400, 421]).toContain(await statusOf(host)));

  it("answers a request for an additional host name that is allowed, in any case and with any port", async () => {
    expect(await statusOf("Nova.Example.com:8443", ["nova.example.com"])).toBe(200);
    expect(await statusOf("x.nova.example.com", ["nova.example.com"])).toBe(421);
  });

  it("refuses every other host name with a sentence that says how to allow it", async () => {
    const hostAdvice = "start it with --host and that name";
    const server = await openServer(httpServer((_, response) => response.end("in"), { hostAdvice }));
    const [, body] = await ask(server.url, "evil.example");
    await server.close();
    expect(JSON.parse(body).message).toMatch(/^this server answers .*"evil.example" - .*--host/);
  });
});

describe("the host name", () => {
  it.each([
    ["nova.example.com", "nova.example.com"],
    ["Nova.Example.com:8443", "nova.example.com"],
    ["https://nova.example.com", undefined],
    ["nova.example.com/", undefined],
    ["a@b", undefined],
    ["", undefined],
  ])("that the server reads from the header value %j is %j", (written, name) => expect(hostName(written)).toBe(name));
});
