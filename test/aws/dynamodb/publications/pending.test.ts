import { createServiceStores } from "@nova/aws";
import type { Publication } from "@nova/service";
import { expect, test } from "vitest";
import frozen from "../../../fixtures/formats/publishing-1.json" with { type: "json" };
import { useBucket, useTable } from "../../support/endpoints.ts";

const bucket = useBucket();
const table = useTable();
const waiting = frozen.values.publications[2] as Publication;

test("a publication that nobody can read is listed beside the others, and can be ended", async () => {
  const { publications } = createServiceStores({ ...table, bucket });
  await publications.create({ ...waiting, workflowId: "newer", format: 2 as never });
  await publications.create(waiting);
  const pending = async () => (await Array.fromAsync(publications.pending())).map(({ workflowId }) => workflowId);
  expect(await pending()).toEqual([waiting.workflowId, "newer"].sort());
  const name = { workflowId: "newer", version: waiting.version };
  await expect(publications.get(name)).rejects.toThrow(/stored in format 2/);
  await publications.settle(name, { status: "failed", reason: "it is stored in format 2" });
  expect(await pending()).toEqual([waiting.workflowId]);
});
