import {
  type CredentialOwner,
  type CredentialRecord,
  type CredentialStore,
  credentialKindNames,
  ownerText,
} from "@nova/engine";
import {
  findItem,
  indexKeys,
  isUnchanged,
  numbers,
  readAll,
  readPage,
  record,
  requiredText,
  requireFormat,
  type Stored,
  type TableConnection,
  tableKeys,
  texts,
  writeIf,
} from "./records.ts";

const maxInPage = 100;

/** Credentials in their encrypted form. */
export function createCredentialStore(connection: TableConnection): CredentialStore {
  const credentials = credentialRecord(connection);
  return {
    list: async (owner) => (await readAll(credentials.query.record({ owner: ownerText(owner) }))).map(recordOf),
    get: ({ owner, name }) => findItem(credentials.get({ owner: ownerText(owner), name }), recordOf),
    put({ owner, ...record }) {
      const before = record.revision - 1;
      const put = credentials.put({ owner: ownerText(owner), ...record });
      return writeIf(put.where(isUnchanged({ revision: before === 0 ? undefined : before })));
    },
    remove: ({ owner, name }) => writeIf(credentials.remove({ owner: ownerText(owner), name })),
    async listAll(after) {
      const { data, cursor } = await readPage(credentials.query.all({}), { limit: maxInPage, cursor: after ?? null });
      return { records: data.map(recordOf), ...(cursor !== null && { after: cursor }) };
    },
  };
}

function ownerIn(text: string): CredentialOwner {
  const id = text.slice(text.indexOf(":") + 1);
  return text.startsWith("client:") ? { client: id } : { workflow: id };
}

function recordOf(item: Stored<typeof credentialRecord>): CredentialRecord {
  return { ...requireFormat(`credential "${item.name}" of ${item.owner}`, item), owner: ownerIn(item.owner) };
}

const credentialRecord = record(
  "credential",
  {
    ...texts("name", "sealed", "key", "changedAt"),
    ...numbers("revision"),
    /** `client:<slug>` or `workflow:<id>`. */
    owner: requiredText,
    kind: { type: credentialKindNames, required: true },
  },
  {
    record: tableKeys("S#{owner}", "N#{name}"),
    /** An index of all credentials, which is read only when the encryption key changes. */
    all: indexKeys("by-client", "CREDENTIALS", "{owner}#{name}"),
  },
);
