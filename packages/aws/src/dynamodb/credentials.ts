// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import {
  type CredentialOwner,
  type CredentialRecord,
  type CredentialStore,
  credentialKindNames,
  ownerText,
} from "@nova/engine";
import { Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

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

function credentialEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "credential", version: "1" },
      attributes: {
        /** `client:<slug>` or `workflow:<id>`. */
        owner: requiredText,
        name: requiredText,
        format: requiredNumber,
        kind: { type: credentialKindNames, required: true },
        sealed: requiredText,
        key: requiredText,
        revision: requiredNumber,
        changedAt: requiredText,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["owner"], template: "S#${owner}", casing: "none" },
          sk: { field: "sk", composite: ["name"], template: "N#${name}", casing: "none" },
        },
        /** For a change of keys; some thousand, read once in a long while. */
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "CREDENTIALS", casing: "none" },
          sk: { field: "ordered", composite: ["owner", "name"], template: "${owner}#${name}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

type CredentialItem = EntityItem<ReturnType<typeof credentialEntity>>;
