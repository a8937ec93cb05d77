import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { Session } from "@nova/service";
import { describe, expect, test } from "vitest";
import { createSessionStore } from "../../../packages/aws/src/dynamodb/sessions.ts";
import frozen from "../../fixtures/formats/sessions-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

/** A session with its stored item. Never regenerate this file. */
const { session, item } = frozen as unknown as { session: Session; item: { pk: string; sk: string } };

describe("a session", () => {
  const table = useTable();
  const bucket = useBucket();
  const stored = () => createSessionStore(table, bucket);

  test("can be read from format 1", async () => {
    await table.client.send(new PutCommand({ TableName: table.table, Item: item }));
    const { state: _, ...summary } = session;
    expect(await stored().get(session.id)).toEqual(session);
    expect(await stored().list({ limit: 9 })).toEqual([summary]);
    expect(await stored().list({ limit: 9, client: session.client })).toEqual([summary]);
    expect(await stored().list({ limit: 9, client: "other" })).toEqual([]);
    expect(await Array.fromAsync(stored().expired(session.expiresAt))).toEqual([summary]);
    expect(await Array.fromAsync(stored().expired(session.createdAt))).toEqual([]);
    await stored().remove(session);
    expect(await stored().get(session.id)).toBeUndefined();
  });

  test("is refused in another format, with a way out", async () => {
    await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    await expect(stored().get(session.id)).rejects.toThrow(/stored in format 2.*update NOVA/);
    await stored().remove(session);
  });

  test("is stored in format 1", async () => {
    expect(await stored().create(session)).toBe(true);
    expect(await stored().create(session)).toBe(false);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items).toEqual([item]);
  });

  test("is replaced only by a writer that has read its current revision", async () => {
    const next = { ...session, revision: session.revision + 1, name: "Another" };
    expect(await stored().replace(next, session.revision - 1)).toBe(false);
    expect(await stored().replace(next, session.revision)).toBe(true);
    expect(await stored().replace(next, session.revision)).toBe(false);
    expect(await stored().get(session.id)).toEqual(next);
  });

  test("with a large state is stored in the bucket, and removed with its contents", async () => {
    const large = {
      ...session,
      id: `ses_${"1".repeat(26)}`,
      state: { ...session.state, context: `{"x":"${"y".repeat(50_000)}"}` },
    };
    await stored().create(large);
    expect(await stored().get(large.id)).toEqual(large);
    await stored().remove(large);
    expect(await stored().get(large.id)).toBeUndefined();
  });
});
