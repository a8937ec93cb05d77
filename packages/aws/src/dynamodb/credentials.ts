import * as engine from "@nova/engine";
import * as db from "./records.ts";

const maxInPage = 100;

/** Creates the store of encrypted credentials. */
export function createCredentialStore(connection: db.TableConnection): engine.CredentialStore {
  const credentials = credentialRecord(connection);
  return {
    list: async (owner) =>
      (await db.readAll(credentials.query.record({ owner: engine.ownerText(owner) }))).map(recordOf),
    get: ({ owner, name }) => db.findItem(credentials.get({ owner: engine.ownerText(owner), name }), recordOf),
    put({ owner, ...record }) {
      const before = record.revision - 1;
      const put = credentials.put({ owner: engine.ownerText(owner), ...record });
      return db.writeIf(put.where(db.isUnchanged({ revision: before === 0 ? undefined : before })));
    },
    remove: ({ owner, name }) => db.writeIf(credentials.remove({ owner: engine.ownerText(owner), name })),
    async listAll(after) {
      const { data, cursor } = await db.readPage(credentials.query.all({}), {
        limit: maxInPage,
        cursor: after ?? null,
      });
      return { records: data.map(recordOf), ...(cursor !== null && { after: cursor }) };
    },
  };
}

function ownerIn(text: string): engine.CredentialOwner {
  const id = text.slice(text.indexOf(":") + 1);
  return text.startsWith("client:") ? { client: id } : { workflow: id };
}

function recordOf(item: db.Stored<typeof credentialRecord>): engine.CredentialRecord {
  return { ...db.requireFormat(`credential "${item.name}" of ${item.owner}`, item), owner: ownerIn(item.owner) };
}

const credentialRecord = db.record(
  "credential",
  {
    ...db.texts("name", "sealed", "key", "changedAt"),
    ...db.numbers("revision"),
    /** `client:<slug>` or `workflow:<id>`. */
    owner: db.requiredText,
    kind: { type: engine.credentialKindNames, required: true },
  },
  {
    record: db.tableKeys("S#{owner}", "N#{name}"),
    /** An index of all credentials, which is read only when the encryption key changes. */
    all: db.indexKeys("by-client", "CREDENTIALS", "{owner}#{name}"),
  },
);
