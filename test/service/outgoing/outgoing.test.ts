import type { lookup } from "node:dns";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { HostRefused } from "@nova/engine";
import { createPoster, PostFailed } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isPublicAddress, maxAnswerBytes } from "../../../packages/service/src/outgoing/outgoing.ts";

let server: Server;
let port: number;
let requests: { message: IncomingMessage; body: string }[];
let answer: RequestListener;

beforeEach(async () => {
  requests = [];
  answer = (_request, response) => void response.end("thanks");
  server = createServer(async (message, response) => {
    requests.push({ message, body: await text(message) });
    answer(message, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Returns a DNS lookup that counts its calls. Each call returns the next of these lists of addresses for any name. */
function resolving(...answers: string[][]) {
  const asked: string[] = [];
  const ask = (host: string, _how: object, done: (error: null, found: object[]) => void) => {
    asked.push(host);
    const addresses = answers.length > 1 ? answers.shift() : answers[0];
    done(
      null,
      (addresses ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { lookup: ask as unknown as typeof lookup, asked };
}

const closed = (...addresses: string[]) => createOutgoing({ allowsPrivate: false, ...resolving(addresses) });
const laptop = () => createOutgoing({ allowsPrivate: true, ...resolving(["127.0.0.1"]) });

describe("a server whose URL a user has written", () => {
  it("receives a request with the host name in this URL, on a connection for this request only", async () => {
    const body = new URLSearchParams({ a: "\u00fc" });
    const reply = await laptop().fetch(`http://id.test:${port}/x?y=1`, { method: "POST", body, headers: { a: "b" } });
    expect([reply.status, await reply.text()]).toEqual([200, "thanks"]);
    const [{ message, body: sent }] = requests as [(typeof requests)[number]];
    expect([message.method, message.url, sent]).toEqual(["POST", "/x?y=1", "a=%C3%BC"]);
    expect(message.headers).toMatchObject({
      host: `id.test:${port}`,
      a: "b",
      "user-agent": "NOVA",
      "content-length": "8",
      connection: "close",
      "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
    });
    expect(message.headers).not.toHaveProperty("accept-encoding");
  });

  it("cannot redirect a request of NOVA to another URL", async () => {
    answer = (_request, response) => void response.writeHead(302, { location: `http://127.0.0.1:${port}/y` }).end();
    const reply = await laptop().fetch(`http://id.test:${port}/`, { headers: { authorization: "Bearer x" } });
    expect([reply.status, requests.length]).toEqual([302, 1]);
  });

  it.each([204, 304])("may answer with the status %d, which has no body", async (status) => {
    answer = (_request, response) => void response.writeHead(status).end();
    expect((await laptop().fetch(`http://id.test:${port}/`)).status).toBe(status);
  });

  it("cannot send an endless response, because NOVA closes the connection after too many bytes", async () => {
    let sent = 0;
    answer = async (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, " ");
      const closed = once(response, "close");
      while (!response.destroyed && sent < 400 * maxAnswerBytes) {
        sent += chunk.length;
        await (response.write(chunk) ? setImmediate() : Promise.race([once(response, "drain"), closed]));
      }
    };
    const reply = await laptop().fetch(`http://id.test:${port}/`);
    await expect(reply.json()).rejects.toThrow(/more than 1048576 bytes/);
    expect(sent).toBeLessThan(20 * maxAnswerBytes);
  });

  it("is disconnected if the caller stops reading its response", async () => {
    answer = (_request, response) => void response.writeHead(500).write("x");
    const reply = await laptop().fetch(`http://id.test:${port}/`);
    const closed = once(requests[0]?.message.socket as Socket, "close");
    await reply.body?.cancel();
    await closed;
  });

  it("cannot delay a caller that has aborted, even in the middle of the response", async () => {
    const given = new AbortController();
    answer = (_request, response) => {
      response.write("{");
      given.abort();
    };
    const reading = laptop()
      .fetch(`http://id.test:${port}/`, { signal: given.signal })
      .then((reply) => reply.json());
    await expect(reading).rejects.toThrow(/abort/i);
  });
});

describe("a request to a URL that a user has written", () => {
  it.each([
    ["to a name of a private address", "id.test", ["127.0.0.1"]],
    ["to a name with one private address", "id.test", ["8.8.8.8", "10.0.0.1"]],
    ["to a name of a private IPv6 address", "id.test", ["::1"]],
    ["to a name of the metadata address of a cloud", "id.test", ["169.254.169.254"]],
    ["to a name of a private address through NAT64", "id.test", ["64:ff9b::7f00:1"]],
    ["to a name without addresses", "id.test", []],
    ["to a private address", "127.0.0.1", ["8.8.8.8"]],
    ["to a private address written as one number", "2130706433", ["8.8.8.8"]],
    ["to a private address written in octal", "0177.0.0.1", ["8.8.8.8"]],
    ["to a private address written in hex", "0x7f.1", ["8.8.8.8"]],
    ["to a private address written as IPv6", "[::ffff:127.0.0.1]", ["8.8.8.8"]],
    ["to a private address written in other digits", "\uff11\uff12\uff17.0.0.1", ["8.8.8.8"]],
    ["to the unspecified address", "0.0.0.0", ["8.8.8.8"]],
    ["to the name of this machine", "localhost", ["127.0.0.1"]],
  ])("%s is refused", async (_where, host, addresses) => {
    const failure = await closed(...addresses)
      .fetch(`http://${host}:${port}/`)
      .catch((error) => error);
    expect(failure).toBeInstanceOf(HostRefused);
    expect(failure.message).toMatch(/ leads to no public address - use a host that is reachable from the internet$/);
    expect(requests).toEqual([]);
  });

  it("goes to the IP address that was checked, even if the name gets another address after the check", async () => {
    const names = resolving(["10.0.0.1"], ["127.0.0.1"]);
    const { fetch } = createOutgoing({ allowsPrivate: false, lookup: names.lookup });
    await expect(fetch(`http://id.test:${port}/`)).rejects.toThrow(HostRefused);
    expect(names.asked).toEqual(["id.test"]);
    const once = resolving(["127.0.0.1"], ["10.0.0.1"]);
    const open = createOutgoing({ allowsPrivate: true, lookup: once.lookup });
    expect((await open.fetch(`http://id.test:${port}/`)).status).toBe(200);
    expect(once.asked).toEqual(["id.test"]);
  });

  it("gets the same error message for an unknown name as for a name of a private address", async () => {
    const missing = ((_host: string, _how: object, done: (error: Error) => void) =>
      done(Object.assign(new Error("none"), { code: "ENOTFOUND" }))) as unknown as typeof lookup;
    const said = (outgoing: { fetch: typeof fetch }) =>
      outgoing.fetch("http://id.test/").catch(({ message }) => message);
    const unknown = createOutgoing({ allowsPrivate: false, lookup: missing });
    expect(await said(unknown as never)).toBe(await said(closed("10.0.0.1") as never));
  });

  it.each(["file:///etc/passwd", "ftp://id.test/", "data:,x"])("to %s is refused", async (url) => {
    await expect(laptop().fetch(url)).rejects.toThrow(HostRefused);
  });

  it("to a URL with a password, which would appear in logs, is refused", async () => {
    await expect(laptop().fetch(`http://a:b@id.test:${port}/`)).rejects.toThrow(/credentials/);
    expect(requests).toEqual([]);
  });
});

describe("an IP address", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "192.167.1.1",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
    "64:ff9b::808:808",
    "100.63.255.255",
    "100.128.0.1",
  ])("such as %s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...[
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.1",
      "127.1.2.3",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
    ],
    ...["192.168.1.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...[
      "::",
      "::1",
      "fe80::1",
      "fe80::1%eth0",
      "fd00::1",
      "fc12::1",
      "ff02::1",
      "2001:db8::1",
      "2002:7f00:1::1",
      "fec0::1",
    ],
    ...[
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:169.254.169.254",
      "64:ff9b::a9fe:a9fe",
      "64:ff9b::10.0.0.1",
      "::127.0.0.1",
      "::ffff:0:10.0.0.1",
      "64:ff9b:1::a00:1",
      "64:ff9b::ffff:a9fe:a9fe",
      "2002:a9fe:a9fe::1",
      "2001:0:a00:1::1",
      "fd00:ec2::254",
      "3fff::1",
      "4000::1",
      "100::1",
      "5f00::1",
    ],
    ...["", "localhost", "1.2.3", "0x7f.1", "2130706433"],
  ])("such as %s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

/** Makes the server return these responses in order, and afterwards responses with the status 200. */
function answerInOrder(answers: readonly { status: number; headers?: Record<string, string> }[]) {
  const left = [...answers];
  answer = (_request, response) => {
    const { status, headers } = left.shift() ?? { status: 200 };
    response.writeHead(status, headers).end("thanks");
  };
}

const poster = (allowsPrivate: boolean, ...addresses: string[]) =>
  createPoster(createOutgoing({ allowsPrivate, ...resolving(addresses) }), [0, 0]);

const request = (host = "hooks.example.com") => ({
  url: `http://${host}:${port}/x?y=1`,
  body: '{"a":"ü"}',
  headers: { "content-type": "application/json", "x-nova-signature": "t=1,v1=00" },
});

describe("the report of a failed run that NOVA posts to a webhook", () => {
  it("arrives with its headers, at the IP address that was checked", async () => {
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

  it("is sent again if the status of the answer is 503 or 429", async () => {
    answerInOrder([{ status: 503 }, { status: 429 }]);
    await poster(true, "127.0.0.1").post(request());
    expect(requests).toHaveLength(3);
  });

  it.each([
    ["refuses it", [{ status: 404 }], 1, /hooks\.example\.com:\d+ answered 404/],
    ["redirects it", [{ status: 302, headers: { location: "http://169.254.169.254/" } }], 1, /answered 302/],
    ["keeps failing", [{ status: 500 }, { status: 500 }, { status: 500 }], 3, /answered 500/],
  ])("is given up if the server %s", async (_, statuses, tries, message) => {
    answerInOrder(statuses);
    const failed = poster(true, "127.0.0.1").post(request());
    await expect(failed).rejects.toThrow(PostFailed);
    await expect(failed).rejects.toThrow(message);
    expect(requests).toHaveLength(tries);
  });

  it("fails with an error if no server answers", async () => {
    server.close();
    await expect(poster(true, "127.0.0.1").post(request())).rejects.toThrow(/does not answer \(connect ECONNREFUSED/);
  });
});

describe("the report of a failed run that is posted", () => {
  it.each([
    ["to a name of a private address", "hooks.example.com", ["127.0.0.1"]],
    ["to a name with one private address", "hooks.example.com", ["8.8.8.8", "10.0.0.1"]],
    ["to a name of a private IPv6 address", "hooks.example.com", ["::1"]],
    ["to a name without addresses", "hooks.example.com", []],
    ["to a private address", "127.0.0.1", ["8.8.8.8"]],
    ["to a private address written as one number", "2130706433", ["8.8.8.8"]],
    ["to a private address written as IPv6", "[::ffff:127.0.0.1]", ["8.8.8.8"]],
    ["to the metadata address of a cloud", "169.254.169.254", ["8.8.8.8"]],
  ])("%s is refused", async (_, host, addresses) => {
    await expect(poster(false, ...addresses).post(request(host))).rejects.toThrow(HostRefused);
    expect(requests).toEqual([]);
  });
});
