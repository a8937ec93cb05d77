import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { createServiceStores } from "@nova/aws";
import type { Client, Publication, Upload } from "@nova/service";
import { beforeEach, describe, expect, test } from "vitest";
import frozen from "../../fixtures/formats/publishing-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

/** Records with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: { publications: [Publication, Publication, Publication]; upload: Upload; client: Client };
  items: { pk: string; sk: string }[];
};
const { publications, upload, client } = values;
const bucket = useBucket();

describe("publications of format 1", () => {
  const table = useTable();
  const stores = () => createServiceStores({ ...table, bucket });

  beforeEach(async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
  });

  test("can be read", async () => {
    const { publications: store, uploads, clients } = stores();
    for (const one of publications) expect(await store.get(one)).toEqual(one);
    expect(await Array.fromAsync(store.pending())).toMatchObject([
      { workflowId: publications[2].workflowId, version: publications[2].version },
    ]);
    expect(await uploads.get(upload.id)).toEqual(upload);
    expect(await clients.get(client.slug)).toEqual(client);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["a publication", () => stores().publications.get(publications[0])],
    ["an upload", () => stores().uploads.get(upload.id)],
  ])("are refused in another format, with a way out (%s)", async (_what, read) => {
    for (const item of items) {
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    }
    await expect(read()).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("new publications", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const { publications: store, uploads, clients } = createServiceStores({ ...table, bucket });
    const [ready, failed] = publications;
    for (const one of publications) {
      const { reason: _, ...known } = { reason: "", ...one };
      await store.create({ ...known, status: "publishing" });
    }
    await store.settle(ready, { status: "ready" });
    if (failed.status === "failed") await store.settle(failed, { status: "failed", reason: failed.reason });
    await uploads.create(upload);
    const { erasing, ...known } = client;
    await clients.create(known);
    if (erasing) await clients.update(client.slug, { erasing });
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    const sorted = Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1));
    expect(sorted).toEqual(items);
  });
});
