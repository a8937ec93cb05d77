import type { ResumeLinkStore } from "@nova/engine";
import { numbers, optionalTexts, requireFormat, texts } from "./fields.ts";
import { findItem, readAll, record, type Stored, type TableConnection, tableKeys, writeIf } from "./records.ts";

/** Resume links share the partition of their execution's tasks. */
export function createResumeLinkStore(connection: TableConnection): ResumeLinkStore {
  const links = linkRecord(connection);
  return {
    async create(link) {
      await writeIf(links.create(link));
    },
    get: ({ execution, id }) => findItem(links.get({ execution, id }), linkOf),
    ofExecution: async (execution) => (await readAll(links.query.record({ execution }))).map(linkOf),
    call({ execution, id }, body, calledAt) {
      const patch = links.patch({ execution, id }).set({ body, calledAt });
      return writeIf(patch.where(({ body }, { notExists }) => notExists(body)));
    },
  };
}

function linkOf(item: Stored<typeof linkRecord>) {
  return requireFormat(`link "${item.id}"`, item);
}

const linkRecord = record(
  "resume-link",
  {
    ...texts("execution", "id", "client", "scope", "node", "tokenHash", "createdAt"),
    ...optionalTexts("body", "calledAt"),
    ...numbers("visit"),
  },
  { record: tableKeys("T#{execution}", "R#{id}") },
);
