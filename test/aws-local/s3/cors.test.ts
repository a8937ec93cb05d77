import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { expect, test } from "vitest";
import { Bucket, useS3 } from "./support/client.ts";

const s3 = useS3();
const origin = "https://console.example.com";

test("a web page of any origin can upload and fetch objects by presigned URLs, as with the deployed bucket", async () => {
  const put = await getSignedUrl(s3.client, new PutObjectCommand({ Bucket, Key: "a", ContentType: "text/plain" }));
  const asked = await fetch(put, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "PUT", "access-control-request-headers": "content-type" },
  });
  expect(asked.status).toBe(200);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, PUT",
    "access-control-allow-headers": "content-type",
  });
  const sent = await fetch(put, { method: "PUT", headers: { origin, "content-type": "text/plain" }, body: "text" });
  expect([sent.status, sent.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  const got = await fetch(await getSignedUrl(s3.client, new GetObjectCommand({ Bucket, Key: "a" })), {
    headers: { origin },
  });
  expect([await got.text(), got.headers.get("access-control-allow-origin")]).toEqual(["text", "*"]);
});

test("a request to the local S3 that comes from no web page gets no CORS headers, and needs a signature", async () => {
  const refused = await fetch(`${s3.server.url}/${Bucket}/a`);
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  expect((await fetch(`${s3.server.url}/${Bucket}/a`, { method: "OPTIONS" })).status).toBe(403);
});
