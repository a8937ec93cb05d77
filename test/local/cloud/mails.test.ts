import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DiskSpace } from "../../../packages/aws-local/src/disk/disk-space.ts";
import { Mails } from "../../../packages/local/src/cloud/mails.ts";

let dataDir: string;
let received: string[];
let records: object[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-mails-"));
  [received, records] = [[], []];
});
afterEach(() => rm(dataDir, { recursive: true }));

const open = () =>
  new Mails({ dataDir, disk: new DiskSpace(dataDir) }, async (functionArn, payload) => {
    expect(functionArn).toMatch(/:nova-receive-mail:/);
    const [record] = JSON.parse(payload).Records;
    received.push(record.s3.object.key);
    records.push(record);
    return { ok: true, payload: "{}" };
  });

const put = (key: string) => ({ bucket: "nova", key, bytes: 1 });

it("delivers each mail to its function after the cloud is open", async () => {
  const mails = open();
  mails.onCreated(put("mail/1"));
  mails.onCreated(put("blobs/1"));
  expect([received, mails.isBusy()]).toEqual([[], false]);
  mails.drive();
  mails.onCreated(put("mail/2"));
  await mails.rest();
  expect(received.sort()).toEqual(["mail/1", "mail/2"]);
  mails.close();
});

it("delivers the mails that a killed process had accepted, each once", async () => {
  // A killed process does not close it.
  open().onCreated(put("mail/1"));
  for (const expected of [["mail/1"], ["mail/1"]]) {
    const next = open();
    next.drive();
    await next.rest();
    next.close();
    expect(received).toEqual(expected);
  }
});

it("describes a mail as S3 does", async () => {
  const mails = open();
  mails.drive();
  mails.onCreated({ bucket: "nova", key: "mail/a b+c", bytes: 7 });
  await mails.rest();
  const s3 = { bucket: { name: "nova" }, object: { key: "mail/a%20b%2Bc", size: 7 } };
  expect(records).toEqual([{ eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 }]);
  mails.close();
});
