import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { readParameters } from "@nova/aws/parameters";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

let server: Server;
let asked: { target: unknown; body: unknown }[];

beforeEach(async () => {
  asked = [];
  server = createServer(async (request, response) => {
    asked.push({ target: request.headers["x-amz-target"], body: JSON.parse(await text(request)) });
    response.setHeader("content-type", "application/x-amz-json-1.1");
    response.end(JSON.stringify({ Parameters: [{ Name: "/nova/a", Value: "one" }], InvalidParameters: ["/nova/b"] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ENDPOINT_URL_SSM", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
});

it("readParameters returns the decrypted values of SSM parameters by name, and leaves out unknown names", async () => {
  expect(await readParameters(["/nova/a", "/nova/b"])).toEqual(new Map([["/nova/a", "one"]]));
  expect(asked).toEqual([
    { target: "AmazonSSM.GetParameters", body: { Names: ["/nova/a", "/nova/b"], WithDecryption: true } },
  ]);
});
