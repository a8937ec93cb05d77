// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openTsa, type Tsa } from "./open-tsa.ts";

const data = "the text of a root";

function makeQuery({ authority: { folder } }: Tsa): Buffer {
  writeFileSync(join(folder, "data"), data);
  return execFileSync("openssl", ["ts", "-query", "-data", "data", "-sha256", "-cert"], { cwd: folder, stdio: "pipe" });
}

function ask(tsa: Tsa, query: Buffer): Promise<Response> {
  const headers = { "content-type": "application/timestamp-query" };
  return fetch(tsa.url, { method: "POST", headers, body: new Uint8Array(query) });
}

it.each([
  { key: "ec" as const, hasIntermediate: false },
  { key: "rsa" as const, hasIntermediate: true },
])("the local time-stamp authority with %j answers with a stamp that OpenSSL accepts", async (options) => {
  await using tsa = await openTsa(options);
  const answer = await ask(tsa, makeQuery(tsa));
  const { folder } = tsa.authority;
  writeFileSync(join(folder, "answer"), await answer.bytes());
  const check = ["ts", "-verify", "-data", "data", "-in", "answer", "-CAfile", "root.pem"];
  expect(execFileSync("openssl", check, { cwd: folder, stdio: "pipe" }).toString()).toContain("OK");

  writeFileSync(join(folder, "token"), await tsa.authority.stamp(createHash("sha256").update(data).digest()));
  expect(
    execFileSync("openssl", [...check, "-token_in"].with(5, "token"), { cwd: folder, stdio: "pipe" }).toString(),
  ).toContain("OK");
});

it("the local time-stamp authority rejects a request or answers with status 503 if a test sets this conduct", async () => {
  await using tsa = await openTsa();
  tsa.conduct = "reject";
  const rejected = await ask(tsa, makeQuery(tsa));
  expect(Buffer.from(await rejected.bytes()).toString("hex")).toBe("30053003020102");
  tsa.conduct = "fail";
  expect((await ask(tsa, makeQuery(tsa))).status).toBe(503);
  expect(tsa.queries).toHaveLength(2);
});
