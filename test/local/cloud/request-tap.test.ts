import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnsweredRequest, tapRequests } from "../../../packages/local/src/cloud/counting.ts";

let server: Server;
let url: string;
let seen: AnsweredRequest[];
let stop: () => void;

beforeEach(async () => {
  // The server reads late, as if it waited for a disk. If the tap read the stream itself, the stream would be empty by
  // then.
  server = createServer(async (request, response) => {
    await new Promise(setImmediate);
    const body = await buffer(request);
    response.writeHead(request.url === "/refused" ? 412 : 200).end(String(body.length));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  seen = [];
  stop = tapRequests((answered) => seen.push(answered));
});

afterEach(() => {
  stop();
  server.close();
});

const json = { "content-type": "application/x-amz-json-1.0" };

describe("the tap, which observes the requests to a server,", () => {
  it.each([2, 300_000])(
    "copies a JSON body of %d bytes, and the server still reads the complete body",
    async (bytes) => {
      const body = `"${"x".repeat(bytes - 2)}"`;
      const response = await fetch(`${url}/a`, { method: "POST", headers: json, body });
      expect(await response.text()).toBe(String(bytes));
      expect(seen).toMatchObject([{ port: Number(new URL(url).port), status: 200, json: body }]);
    },
  );

  it("copies only JSON bodies, and reports the response to each request", async () => {
    await fetch(`${url}/refused`, { method: "PUT", body: Buffer.alloc(1000) });
    expect(seen).toMatchObject([{ status: 412, json: "" }]);
    expect(seen[0]?.request.url).toBe("/refused");
  });

  it("observes no request after it was stopped", async () => {
    stop();
    await fetch(url, { method: "POST", headers: json, body: "{}" });
    expect(seen).toEqual([]);
  });
});
