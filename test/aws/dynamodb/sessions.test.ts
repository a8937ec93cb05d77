import type { Session } from "@nova/service";
import { expect, test } from "vitest";
import { createSessionStore } from "../../../packages/aws/src/dynamodb/sessions.ts";
import frozen from "../../fixtures/formats/sessions-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

const { session } = frozen as unknown as { session: Session };
const table = useTable();
const bucket = useBucket();
const store = () => createSessionStore(table, bucket);

test("a session is created once, and replaced only by a writer that has read its current revision", async () => {
  expect([await store().create(session), await store().create(session)]).toEqual([true, false]);
  const next = { ...session, revision: session.revision + 1, name: "Another" };
  expect(await store().replace(next, session.revision - 1)).toBe(false);
  expect(await store().replace(next, session.revision)).toBe(true);
  expect(await store().replace(next, session.revision)).toBe(false);
  expect(await store().get(session.id)).toEqual(next);
  await store().remove(session);
  expect(await store().get(session.id)).toBeUndefined();
});

test("the large state of a session is stored in the S3 bucket, and is removed together with the session", async () => {
  const state = { ...session.state, context: `{"x":"${"y".repeat(50_000)}"}` };
  const large = { ...session, id: `ses_${"1".repeat(26)}`, state };
  await store().create(large);
  expect(await store().get(large.id)).toEqual(large);
  await store().remove(large);
  expect(await store().get(large.id)).toBeUndefined();
});
