import { createHash } from "node:crypto";
import type { Session, SessionStore, SessionSummary } from "@nova/service";
import { blobKey, createBlobStore } from "../s3/blob-store.ts";
import { type BucketConnection, removePrefix } from "../s3/objects.ts";
import * as db from "./records.ts";

/** Limit in bytes: a larger state is stored as a blob. The chain has the same limit. */
const inlineBytes = 8192;

/** Creates the store of sessions. A large state is a blob whose root is the session's id. */
export function createSessionStore(connection: db.TableConnection, bucket: BucketConnection): SessionStore {
  const sessions = sessionRecord(connection);
  const blobs = createBlobStore(bucket);
  const itemOf = async ({ state, ...summary }: Session) => {
    const whole = JSON.stringify(state);
    const item = { ...summary, open: "sessions" as const };
    if (Buffer.byteLength(whole) <= inlineBytes) return { ...item, state: whole };
    const body = Buffer.from(whole);
    const sha256 = createHash("sha256").update(body).digest("hex");
    await blobs.put(blobHome(summary), { sha256, bytes: body.length, type: "json" }, body);
    return { ...item, stateHash: sha256 };
  };
  const read = async ({ state, stateHash, ...item }: SessionItem): Promise<Session> => {
    const whole = state ?? Buffer.from(await blobs.get(blobHome(item), stateHash ?? "")).toString();
    return { ...summaryOf(item), state: JSON.parse(whole) };
  };
  return {
    create: async (session) => db.writeIf(sessions.create(await itemOf(session))),
    get: (id) => db.findItem(sessions.get({ id }), read),
    replace: async (session, from) =>
      db.writeIf(sessions.put(await itemOf(session)).where((own, { eq }) => eq(own.revision, from))),
    async list({ limit, after = db.afterAll, client }) {
      const all = client === undefined ? sessions.query.all({ open: "sessions" }) : sessions.query.ofClient({ client });
      return (await db.readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(summaryOf);
    },
    async *expired(until) {
      const all = sessions.query.all({ open: "sessions" });
      for await (const item of db.readEach(all.where((own, { lte }) => lte(own.expiresAt, until))))
        yield summaryOf(item);
    },
    async remove(session) {
      await removePrefix(bucket, blobKey(blobHome(session), ""));
      await db.writeIf(sessions.delete({ id: session.id }).where(db.hasValues({ client: session.client })));
    },
  };
}

function blobHome({ client, id }: Pick<Session, "client" | "id">) {
  return { client, root: id };
}

function summaryOf({ open: _, state: __, stateHash: ___, ...item }: SessionItem): SessionSummary {
  return db.requireFormat(`session "${item.id}"`, item);
}

const sessionRecord = db.record(
  "session",
  {
    ...db.texts("id", "client", "name", "createdBy", "createdAt", "expiresAt"),
    ...db.numbers("revision", "retentionDays"),
    /** JSON text; absent if the state is a blob. */
    state: db.text,
    stateHash: db.text,
    open: { type: ["sessions"], required: true },
  },
  {
    record: db.tableKeys("SESSION#{id}", "SESSION"),
    ofClient: db.indexKeys("by-client", "SESSION#{client}", "{id}"),
    /** People create some hundred sessions a day, so one index partition is enough. */
    all: db.indexKeys("open", "{open}", "{id}"),
  },
);

type SessionItem = db.Stored<typeof sessionRecord>;
