import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openS3 } from "../../../packages/aws-local/src/s3/server.ts";
import type { Listening } from "../../../packages/serve-local/src/http-server.ts";
import { signedFetch } from "../support/signed.ts";

const key = { accessKeyId: "test-key", secretAccessKey: "test-secret" };
let server: Listening;

beforeAll(async () => {
  server = await openS3({ dataDir: null, ...key });
  await signedFetch("s3", key, `${server.url}/bucket`, { method: "PUT" });
  const url = await signed("PUT", "a file+name (1)!.txt");
  expect((await fetch(url, { method: "PUT", body: "hello" })).status).toBe(200);
});

afterAll(() => server.close());

function signed(method: "GET" | "PUT", Key: string, credentials = key): Promise<string> {
  const client = new S3Client({
    endpoint: server.url,
    region: "us-east-1",
    credentials,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const input = { Bucket: "bucket", Key };
  const options = { expiresIn: 60 };
  return method === "GET"
    ? getSignedUrl(client, new GetObjectCommand(input), options)
    : getSignedUrl(client, new PutObjectCommand(input), options);
}

async function answered(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  return `${answer.status} ${/<Code>(\w+)/.exec(text)?.[1] ?? text}`;
}

describe("a presigned URL of the local S3", () => {
  it("opens the object that it names, with any characters in its key", async () => {
    expect(await answered(await signed("GET", "a file+name (1)!.txt"))).toBe("200 hello");
  });

  it.each<[string, (url: string) => string | Promise<string>, string]>([
    ["for another object", (url) => url.replace("file", "fil"), "403 SignatureDoesNotMatch"],
    ["with another query", (url) => `${url}&response-content-type=text/html`, "403 SignatureDoesNotMatch"],
    ["with half a signature", (url) => url.replace(/(X-Amz-Signature=\w{10})\w+/, "$1"), "403 SignatureDoesNotMatch"],
    [
      "whose expiry was changed after signing",
      (url) => url.replace("Expires=60", "Expires=61"),
      "403 SignatureDoesNotMatch",
    ],
    ["without a time", (url) => url.replace("Expires=60", "Expires=soon"), "400 AuthorizationQueryParametersError"],
    ["of another algorithm", (url) => url.replace("HMAC-SHA256", "NONE"), "400 AuthorizationQueryParametersError"],
    ["of an unknown key", () => signed("GET", "x", { ...key, accessKeyId: "other" }), "403 InvalidAccessKeyId"],
    [
      "signed with another secret",
      () => signed("GET", "x", { ...key, secretAccessKey: "no" }),
      "403 SignatureDoesNotMatch",
    ],
  ])("%s opens no object", async (_what, changed, answer) => {
    expect(await answered(await changed(await signed("GET", "a file+name (1)!.txt")))).toBe(answer);
  });

  it("opens no object for a client with additional unsigned headers", async () => {
    const url = await signed("PUT", "copy");
    const headers = { "x-amz-copy-source": "/bucket/another" };
    expect((await fetch(url, { method: "PUT", headers })).status).toBe(403);
  });

  it("has a signature that cannot be used in an Authorization header", async () => {
    const url = new URL(await signed("GET", "a file+name (1)!.txt"));
    const of = (name: string) => url.searchParams.get(`X-Amz-${name}`);
    const authorization = `AWS4-HMAC-SHA256 Credential=${of("Credential")}, SignedHeaders=host, Signature=${of("Signature")}`;
    url.searchParams.delete("X-Amz-Signature");
    const answer = await fetch(url, { headers: { authorization } });
    expect(await answer.text()).toContain("<Code>SignatureDoesNotMatch</Code>");
  });

  it("opens its object only with the signed method", async () => {
    const url = await signed("GET", "a file+name (1)!.txt");
    expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
  });

  it("opens no object after its expiry", async () => {
    const url = await signed("GET", "a file+name (1)!.txt");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      expect(await answered(url)).toBe("403 AccessDenied");
    } finally {
      vi.useRealTimers();
    }
  });
});
