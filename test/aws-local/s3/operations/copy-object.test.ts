import { CopyObjectCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { Bucket, useS3 } from "../support/client.ts";

const s3 = useS3();
const get = (Key: string) => s3.client.send(new GetObjectCommand({ Bucket, Key }));

describe("CopyObject", () => {
  test("copies the bytes and the type of an object, and copies or replaces its metadata", async () => {
    const said = { ContentType: "text/plain", Metadata: { by: "first" } };
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "from é", Body: "copied", ...said }));
    const CopySource = `${Bucket}/${encodeURIComponent("from é")}`;
    await s3.client.send(new CopyObjectCommand({ Bucket, Key: "same", CopySource }));
    const replaced = { MetadataDirective: "REPLACE", Metadata: { by: "second" } } as const;
    await s3.client.send(new CopyObjectCommand({ Bucket, Key: "other", CopySource, ...replaced }));
    expect(await get("same")).toMatchObject(said);
    expect((await get("other")).Metadata).toEqual({ by: "second" });
    expect(await (await get("other")).Body?.transformToString()).toBe("copied");
  });

  test("refuses a source that does not exist", async () => {
    const copy = new CopyObjectCommand({ Bucket, Key: "x", CopySource: `${Bucket}/missing` });
    await expect(s3.client.send(copy)).rejects.toMatchObject({ name: "NoSuchKey" });
  });
});
