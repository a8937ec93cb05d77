import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { Session } from "@nova/service";
import { describe, expect, test } from "vitest";
import { createSessionStore } from "../../../packages/aws/src/dynamodb/sessions.ts";
import frozen from "../../fixtures/formats/sessions-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

/** A session, and the item that it was stored as when format 1 was made. Never regenerate this file. */
const { session, item } = frozen as unknown as { session: Session; item: { pk: string; sk: string } };

describe("a session", () => {
  const table = useTable();
  const bucket = useBucket();
  const stored = () => createSessionStore(table, bucket);

  test("is read for ever", async () => {
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

  test("of another format is refused with a way out", async () => {
    await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    await expect(stored().get(session.id)).rejects.toThrow(/stored in format 2.*update NOVA/);
    await stored().remove(session);
  });

  test("written today is stored in format 1", async () => {
    expect(await stored().create(session)).toBe(true);
    expect(await stored().create(session)).toBe(false);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items).toEqual([item]);
  });

  test("is replaced by who has read it last, and by nobody else", async () => {
    const next = { ...session, revision: session.revision + 1, name: "Another" };
    expect(await stored().replace(next, session.revision - 1)).toBe(false);
    expect(await stored().replace(next, session.revision)).toBe(true);
    expect(await stored().replace(next, session.revision)).toBe(false);
    expect(await stored().get(session.id)).toEqual(next);
  });

  test("that is large lies in the bucket, and goes with what it holds", async () => {
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
