// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { ResumeLink, ResumeLinkStore } from "@nova/engine";
import { Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText, text } from "../fields.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";

/** Links lie beside the tasks of their execution. */
export function createResumeLinkStore(connection: TableConnection): ResumeLinkStore {
  const links = whenAsked(() => linkEntity(connection));
  return {
    async create(link) {
      await reachingIf(store, () => links.create(link).go(plainly));
    },
    async get({ execution, id }) {
      const { data } = await reaching(store, () => links.get({ execution, id }).go(consistently));
      return data ? linkOf(data) : undefined;
    },
    async ofExecution(execution) {
      const query = links.query.record({ execution });
      const { data } = await reaching(store, () => query.go({ ...consistently, pages: "all" }));
      return data.map(linkOf);
    },
    call({ execution, id }, body, calledAt) {
      const patch = links.patch({ execution, id }).set({ body, calledAt });
      return reachingIf(store, () => patch.where(({ body }, { notExists }) => notExists(body)).go(plainly));
    },
  };
}

function linkEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "resume-link", version: "1" },
      attributes: {
        execution: requiredText,
        id: requiredText,
        format: requiredNumber,
        client: requiredText,
        scope: requiredText,
        node: requiredText,
        visit: requiredNumber,
        tokenHash: requiredText,
        createdAt: requiredText,
        body: text,
        calledAt: text,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["execution"], template: "T#${execution}", casing: "none" },
          sk: { field: "sk", composite: ["id"], template: "R#${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

function linkOf({ format, ...link }: EntityItem<ReturnType<typeof linkEntity>>): ResumeLink {
  checkFormat(`link "${link.id}"`, format);
  return { ...link, format: FORMAT };
}
