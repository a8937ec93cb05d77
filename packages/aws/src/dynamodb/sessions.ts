import { createHash } from "node:crypto";
import type { Session, SessionStore, SessionSummary } from "@nova/service";
import { blobKey, createBlobStore } from "../s3/blob-store.ts";
import { type BucketConnection, removePrefix } from "../s3/objects.ts";
import { current, numbers, text, texts } from "./fields.ts";
import {
  each,
  found,
  having,
  indexed,
  place,
  readSome,
  record,
  type Stored,
  type TableConnection,
  writeIf,
} from "./records.ts";

/** What an item holds inline; the same limit as in the chain (protocol, Sizes). */
const inlineBytes = 8192;
/** Behind every ULID. */
const afterAll = "~";

/** Sessions; what a large one holds is a blob below its own id. */
export function createSessionStore(connection: TableConnection, bucket: BucketConnection): SessionStore {
  const sessions = sessionRecord(connection);
  const blobs = createBlobStore(bucket);
  const itemOf = async ({ state, ...summary }: Session) => {
    const whole = JSON.stringify(state);
    const item = { ...summary, open: "sessions" as const };
    if (Buffer.byteLength(whole) <= inlineBytes) return { ...item, state: whole };
    const body = Buffer.from(whole);
    const sha256 = createHash("sha256").update(body).digest("hex");
    await blobs.put(homeOf(summary), { sha256, bytes: body.length, type: "json" }, body);
    return { ...item, stateHash: sha256 };
  };
  const read = async ({ state, stateHash, ...item }: SessionItem): Promise<Session> => {
    const whole = state ?? Buffer.from(await blobs.get(homeOf(item), stateHash ?? "")).toString();
    return { ...summaryOf(item), state: JSON.parse(whole) };
  };
  return {
    create: async (session) => writeIf(sessions.create(await itemOf(session))),
    get: (id) => found(sessions.get({ id }), read),
    replace: async (session, from) =>
      writeIf(sessions.put(await itemOf(session)).where((own, { eq }) => eq(own.revision, from))),
    async list({ limit, after = afterAll, client }) {
      const all = client === undefined ? sessions.query.all({ open: "sessions" }) : sessions.query.ofClient({ client });
      return (await readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(summaryOf);
    },
    async *expired(until) {
      const all = sessions.query.all({ open: "sessions" });
      for await (const item of each(all.where((own, { lte }) => lte(own.expiresAt, until)))) yield summaryOf(item);
    },
    async remove(session) {
      await removePrefix(bucket, blobKey(homeOf(session), ""));
      await writeIf(sessions.delete({ id: session.id }).where(having({ client: session.client })));
    },
  };
}

function homeOf({ client, id }: Pick<Session, "client" | "id">) {
  return { client, root: id };
}

function summaryOf({ open: _, state: __, stateHash: ___, ...item }: SessionItem): SessionSummary {
  return current(`session "${item.id}"`, item);
}

const sessionRecord = record(
  "session",
  {
    ...texts("id", "client", "name", "createdBy", "createdAt", "expiresAt"),
    ...numbers("revision", "retentionDays"),
    /** JSON text; absent where it is a blob. */
    state: text,
    stateHash: text,
    /** The key of a sparse index. */
    open: { type: ["sessions"], required: true },
  },
  {
    record: place("SESSION#{id}", "SESSION"),
    ofClient: indexed("by-client", "SESSION#{client}", "{id}"),
    /** People make some hundred a day: one partition bears them. */
    all: indexed("open", "{open}", "{id}"),
  },
);

type SessionItem = Stored<typeof sessionRecord>;
