import { createServiceStores } from "@nova/aws";
import type { Publication } from "@nova/service";
import { expect, test } from "vitest";
import frozen from "../../fixtures/formats/publishing-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

const bucket = useBucket();
const table = useTable();
const [ready, , waiting] = frozen.values.publications as [Publication, Publication, Publication];
const handedOver = { times: 2, at: "2026-01-01T00:02:00.000Z" };

test("a publication records a second hand-over while it is publishing, and not after it has ended", async () => {
  const { publications } = createServiceStores({ ...table, bucket });
  await publications.create(waiting);
  await publications.recordHandOver(waiting, handedOver);
  expect(await publications.get(waiting)).toEqual({ ...waiting, handedOver });
  const { workflowId, version, createdAt } = waiting;
  expect(await Array.fromAsync(publications.pending())).toEqual([{ workflowId, version, createdAt, handedOver }]);
  await publications.settle(waiting, { status: "ready" });
  await publications.recordHandOver(waiting, { ...handedOver, times: 3 });
  expect(await publications.get(waiting)).toEqual({ ...waiting, status: "ready", handedOver });
  await publications.recordHandOver({ ...ready, workflowId: "nobodys" }, handedOver);
  expect(await publications.get({ ...ready, workflowId: "nobodys" })).toBeUndefined();
});

test("an unreadable publication is listed with the others, and can be ended", async () => {
  const { publications } = createServiceStores({ ...table, bucket });
  await publications.create({ ...waiting, workflowId: "newer", format: 2 as never });
  await publications.create({ ...waiting, workflowId: "current" });
  const pending = async () => (await Array.fromAsync(publications.pending())).map(({ workflowId }) => workflowId);
  expect(await pending()).toEqual(["current", "newer"]);
  const name = { workflowId: "newer", version: waiting.version };
  await expect(publications.get(name)).rejects.toThrow(/stored in format 2/);
  await publications.settle(name, { status: "failed", reason: "it is stored in format 2" });
  expect(await pending()).toEqual(["current"]);
});
