import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { expect, it } from "vitest";
import { httpServer, openServer } from "../../packages/serve-local/src/http-server.ts";

const part = Buffer.alloc(512 * 1024);

/** Handlers that do not read a body to its end. */
const waysToLeave: Record<string, (request: IncomingMessage) => Promise<unknown>> = {
  "does not read the body": async () => undefined,
  "stops reading the body": async (request) => {
    for await (const _ of request) break;
  },
  "throws while it reads the body": async (request) => {
    for await (const _ of request) throw new RangeError("the disk is full");
  },
  "keeps an open iterator over the body": (request) => request[Symbol.asyncIterator]().next(),
  "pipes the body to a stream that fails": async (request) => {
    for await (const _ of request.pipe(createGunzip())) break;
  },
};

it.each(Object.entries(waysToLeave))(
  "a connection to a local server also serves the next request if the handler of the previous request %s",
  async (_, leave) => {
    await using server = await served(async (request, response) => {
      if (request.method === "POST") await leave(request).catch(() => undefined);
      response.end(request.method);
    });
    const client = await server.connect();

    client.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${2 * part.length}\r\n\r\n`);
    client.write(part);
    expect(await answer(client)).toMatch(/POST$/);
    client.write(part);
    client.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");

    expect(await answer(client)).toMatch(/GET$/);
  },
);

it.each([
  [
    "a header that is too large",
    "431",
    `GET / HTTP/1.1\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
    "the header of the request is larger",
  ],
  ["bytes that are not HTTP", "400", "hello\r\n\r\n", "the server cannot read this as a request"],
])("a local server answers %s with status %s and one sentence", async (_, status, request, sentence) => {
  await using server = await served((_, response) => void response.end("read"));
  const client = await server.connect();

  client.write(request);

  const text = Buffer.concat(await Array.fromAsync(client)).toString();
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toEqual({ message: expect.stringContaining(sentence) });
});

it("a local server closes a connection if the handler destroys the request before its end", async () => {
  await using server = await served(async (request, response) => {
    await pipeline(request, async function* () {
      yield "enough";
    }).catch(() => undefined);
    response.end("done");
  });
  const client = await server.connect();

  client.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${2 * part.length}\r\n\r\n`);
  client.write(part);

  await new Promise((closed) => client.resume().once("close", closed));
});

async function served(listener: RequestListener) {
  const server = httpServer(listener, { keepAliveTimeout: 600_000 }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const clients: Socket[] = [];
  return {
    async connect() {
      const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
      clients.push(client);
      await once(client, "connect");
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(client: Socket): Promise<string> {
  let text = "";
  while (!/\r\n\r\n(POST|GET)$/.test(text)) text += ((await once(client, "data")) as [Buffer])[0];
  return text;
}

it("a closing local server does not wait for a connection that has sent no request", async () => {
  const { url, close } = await openServer(httpServer((_request, response) => response.end()));
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  const ended = once(socket, "close");
  await close();
  await ended;
});
