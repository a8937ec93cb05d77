import { type CredentialOwner, type CredentialRecord, type CredentialStore, ownerText } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type CredentialItem, credentialEntity } from "./credential-entity.ts";

const store = "DynamoDB";
const mostAtOnce = 100;

/** Credentials as they were sealed. */
export function createCredentialStore(connection: TableConnection): CredentialStore {
  const entity = whenAsked(() => credentialEntity(connection));
  return {
    async list(owner) {
      const query = entity.query.record({ owner: ownerText(owner) });
      const { data } = await reaching(store, () => query.go({ ...consistently, pages: "all" }));
      return data.map(recordOf);
    },
    async get({ owner, name }) {
      const { data } = await reaching(store, () => entity.get({ owner: ownerText(owner), name }).go(consistently));
      return data ? recordOf(data) : undefined;
    },
    put({ owner, ...record }) {
      const put = entity.put({ owner: ownerText(owner), ...record });
      const before = record.revision - 1;
      const isNext = put.where(({ revision }, { eq, notExists }) =>
        before === 0 ? notExists(revision) : eq(revision, before),
      );
      return reachingIf(store, () => isNext.go(plainly));
    },
    remove: ({ owner, name }) => reachingIf(store, () => entity.remove({ owner: ownerText(owner), name }).go(plainly)),
    async listAll(after) {
      const options = { ...plainly, limit: mostAtOnce, cursor: after ?? null };
      const { data, cursor } = await reaching(store, () => entity.query.all({}).go(options));
      return { records: data.map(recordOf), ...(cursor !== null && { after: cursor }) };
    },
  };
}

function ownerIn(text: string): CredentialOwner {
  const id = text.slice(text.indexOf(":") + 1);
  return text.startsWith("client:") ? { client: id } : { workflow: id };
}

function recordOf({ format, owner, ...record }: CredentialItem): CredentialRecord {
  checkFormat(`credential "${record.name}" of ${owner}`, format);
  return { ...record, owner: ownerIn(owner), format: FORMAT };
}
