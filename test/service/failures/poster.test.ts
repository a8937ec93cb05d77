import type { lookup } from "node:dns";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { HostRefused } from "@nova/engine";
import { createPoster, PostFailed } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Answers of the server, in order; then 200. */
let answers: { status: number; headers?: Record<string, string> }[];
let requests: { message: IncomingMessage; body: string }[];
let server: Server;
let port: number;

beforeEach(async () => {
  [answers, requests] = [[], []];
  server = createServer(async (message, response) => {
    requests.push({ message, body: await text(message) });
    const { status, headers } = answers.shift() ?? { status: 200 };
    response.writeHead(status, headers).end("thanks");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterEach(() => server.close());

const resolving = (...addresses: string[]) =>
  ((_host: string, _how: object, done: (error: null, found: object[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )) as unknown as typeof lookup;

const poster = (allowsPrivate: boolean, ...addresses: string[]) =>
  createPoster(createOutgoing({ allowsPrivate, lookup: resolving(...addresses) }), [0, 0]);

const request = (host = "hooks.example.com") => ({
  url: `http://${host}:${port}/x?y=1`,
  body: '{"a":"ü"}',
  headers: { "content-type": "application/json", "x-nova-signature": "t=1,v1=00" },
});

describe("a posted failure", () => {
  it("arrives with its headers, at the address that was checked", async () => {
    await poster(true, "127.0.0.1").post(request());
    const [{ message, body }] = requests as [(typeof requests)[number]];
    expect([message.method, message.url, body]).toEqual(["POST", "/x?y=1", '{"a":"ü"}']);
    expect(message.headers).toMatchObject({
      host: `hooks.example.com:${port}`,
      "content-type": "application/json",
      "x-nova-signature": "t=1,v1=00",
      "content-length": "10",
      "user-agent": "NOVA",
    });
  });

  it("is retried if the server may accept it later", async () => {
    answers = [{ status: 503 }, { status: 429 }];
    await poster(true, "127.0.0.1").post(request());
    expect(requests).toHaveLength(3);
  });

  it.each([
    ["refuses it", [{ status: 404 }], 1, /hooks\.example\.com:\d+ answered 404/],
    ["sends it on", [{ status: 302, headers: { location: "http://169.254.169.254/" } }], 1, /answered 302/],
    ["keeps failing", [{ status: 500 }, { status: 500 }, { status: 500 }], 3, /answered 500/],
  ])("is given up if the server %s", async (_, statuses, tries, message) => {
    answers = statuses;
    const failed = poster(true, "127.0.0.1").post(request());
    await expect(failed).rejects.toThrow(PostFailed);
    await expect(failed).rejects.toThrow(message);
    expect(requests).toHaveLength(tries);
  });

  it("is given up if no server answers", async () => {
    server.close();
    await expect(poster(true, "127.0.0.1").post(request())).rejects.toThrow(/does not answer \(connect ECONNREFUSED/);
  });
});

describe("a post", () => {
  it.each([
    ["to a name of a private address", "hooks.example.com", ["127.0.0.1"]],
    ["to a name with one private address", "hooks.example.com", ["8.8.8.8", "10.0.0.1"]],
    ["to a name of a private IPv6 address", "hooks.example.com", ["::1"]],
    ["to a name without addresses", "hooks.example.com", []],
    ["to a private address", "127.0.0.1", ["8.8.8.8"]],
    ["to a private address written as one number", "2130706433", ["8.8.8.8"]],
    ["to a private address written as IPv6", "[::ffff:127.0.0.1]", ["8.8.8.8"]],
    ["to the metadata of a cloud", "169.254.169.254", ["8.8.8.8"]],
  ])("%s is refused", async (_, host, addresses) => {
    await expect(poster(false, ...addresses).post(request(host))).rejects.toThrow(HostRefused);
    expect(requests).toEqual([]);
  });
});
