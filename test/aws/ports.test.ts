import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { createAwsPorts } from "../../packages/aws/src/ports.ts";
import { useBucket, useTable } from "./support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
const roleArn = "arn:aws:iam::000000000000:role/nova";
const signer = { keyHex: "ab".repeat(32) };
const keyPair = signer;
const vault = { keyHex: "cd".repeat(32) };

beforeAll(() => {
  process.env.NOVA_TABLE = table.table;
});

test("the AWS adapters use the table and the endpoints that environment variables name", async () => {
  const ports = createAwsPorts({
    eventBus: "nova",
    bucket: bucket.bucket,
    roleArn,
    signer,
    keyPair,
    vault,
    s3PathStyle: true,
    fetch,
  });
  const at = { execution: "exec_ports", scope: "", seq: 0 };
  const body = Buffer.from("a blob");
  const sha256 = createHash("sha256").update(body).digest("hex");
  const home = { client: "acme", root: "exec_ports" };
  await ports.blobs.put(home, { sha256, bytes: body.length, type: "text" }, body);
  await ports.chain.putEntry(at, { head: "{}", hash: "h", contents: {} });
  expect(Buffer.from(await ports.blobs.get(home, sha256)).toString()).toBe("a blob");
  expect((await ports.chain.read(at)).entry?.hash).toBe("h");
  expect(await ports.signer.verify("h", await ports.signer.sign("h"))).toBe(true);
});
