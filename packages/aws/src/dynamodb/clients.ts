// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { Client, ClientQuotas, ClientStore, Erasing } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Those for whom workflows run. */
export function createClientStore(connection: TableConnection): ClientStore {
  const entity = whenAsked(() => clientEntity(connection));
  return {
    create: (client) => reachingIf(store, () => entity.create(client).go(plainly)),
    async get(slug) {
      const { data } = await reaching(store, () => entity.get({ slug }).go(consistently));
      return data ? clientOf(data) : undefined;
    },
    update: (slug, changes) => reachingIf(store, () => entity.patch({ slug }).set(changes).go(plainly)),
    async remove(slug) {
      await reaching(store, () => entity.delete({ slug }).go(plainly));
    },
    async list({ limit, after = beforeAll }) {
      const query = entity.query.all({}).gt({ slug: after });
      const { data } = await reaching(store, () => query.go({ ...plainly, count: limit }));
      return data.map(clientOf);
    },
  };
}

function clientOf({ format, ...client }: ClientItem): Client {
  checkFormat(`client "${client.slug}"`, format);
  return { ...client, format: FORMAT };
}

function clientEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "client", version: "1" },
      attributes: {
        slug: requiredText,
        format: requiredNumber,
        name: requiredText,
        pins: { type: CustomAttributeType<Record<string, number>>("any"), required: true },
        variables: text,
        erasedUntil: text,
        quotas: { type: CustomAttributeType<ClientQuotas>("any") },
        onFailure: { type: CustomAttributeType<OnFailure>("any") },
        mailFrom: text,
        createdAt: requiredText,
        erasing: { type: CustomAttributeType<Erasing>("any") },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["slug"], template: "CLIENT#${slug}", casing: "none" },
          sk: { field: "sk", composite: [], template: "CLIENT", casing: "none" },
        },
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "CLIENTS", casing: "none" },
          sk: { field: "ordered", composite: ["slug"], template: "${slug}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

type ClientItem = EntityItem<ReturnType<typeof clientEntity>>;
