import { createHash } from "node:crypto";
import type { Session, SessionStore, SessionSummary } from "@nova/service";
import { blobKey, createBlobStore } from "../s3/blob-store.ts";
import { type BucketConnection, removePrefix } from "../s3/objects.ts";
import {
  afterAll,
  findItem,
  hasValues,
  indexKeys,
  numbers,
  readEach,
  readSome,
  record,
  requireFormat,
  type Stored,
  type TableConnection,
  tableKeys,
  text,
  texts,
  writeIf,
} from "./records.ts";

/** A larger state is stored as a blob. The chain has the same limit. */
const inlineBytes = 8192;

/** Sessions. A large state is a blob whose root is the session's id. */
export function createSessionStore(connection: TableConnection, bucket: BucketConnection): SessionStore {
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
    create: async (session) => writeIf(sessions.create(await itemOf(session))),
    get: (id) => findItem(sessions.get({ id }), read),
    replace: async (session, from) =>
      writeIf(sessions.put(await itemOf(session)).where((own, { eq }) => eq(own.revision, from))),
    async list({ limit, after = afterAll, client }) {
      const all = client === undefined ? sessions.query.all({ open: "sessions" }) : sessions.query.ofClient({ client });
      return (await readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(summaryOf);
    },
    async *expired(until) {
      const all = sessions.query.all({ open: "sessions" });
      for await (const item of readEach(all.where((own, { lte }) => lte(own.expiresAt, until)))) yield summaryOf(item);
    },
    async remove(session) {
      await removePrefix(bucket, blobKey(blobHome(session), ""));
      await writeIf(sessions.delete({ id: session.id }).where(hasValues({ client: session.client })));
    },
  };
}

function blobHome({ client, id }: Pick<Session, "client" | "id">) {
  return { client, root: id };
}

function summaryOf({ open: _, state: __, stateHash: ___, ...item }: SessionItem): SessionSummary {
  return requireFormat(`session "${item.id}"`, item);
}

const sessionRecord = record(
  "session",
  {
    ...texts("id", "client", "name", "createdBy", "createdAt", "expiresAt"),
    ...numbers("revision", "retentionDays"),
    /** JSON text; absent if the state is a blob. */
    state: text,
    stateHash: text,
    open: { type: ["sessions"], required: true },
  },
  {
    record: tableKeys("SESSION#{id}", "SESSION"),
    ofClient: indexKeys("by-client", "SESSION#{client}", "{id}"),
    /** People create some hundred sessions a day, so one index partition is enough. */
    all: indexKeys("open", "{open}", "{id}"),
  },
);

type SessionItem = Stored<typeof sessionRecord>;
