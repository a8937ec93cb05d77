import type { ResumeLinkStore } from "@nova/engine";
import { current, numbers, optionalTexts, texts } from "./fields.ts";
import { found, place, readAll, record, type Stored, type TableConnection, writeIf } from "./records.ts";

/** Links lie beside the tasks of their execution. */
export function createResumeLinkStore(connection: TableConnection): ResumeLinkStore {
  const links = linkRecord(connection);
  return {
    async create(link) {
      await writeIf(links.create(link));
    },
    get: ({ execution, id }) => found(links.get({ execution, id }), linkOf),
    ofExecution: async (execution) => (await readAll(links.query.record({ execution }))).map(linkOf),
    call({ execution, id }, body, calledAt) {
      const patch = links.patch({ execution, id }).set({ body, calledAt });
      return writeIf(patch.where(({ body }, { notExists }) => notExists(body)));
    },
  };
}

function linkOf(item: Stored<typeof linkRecord>) {
  return current(`link "${item.id}"`, item);
}

const linkRecord = record(
  "resume-link",
  {
    ...texts("execution", "id", "client", "scope", "node", "tokenHash", "createdAt"),
    ...optionalTexts("body", "calledAt"),
    ...numbers("visit"),
  },
  { record: place("T#{execution}", "R#{id}") },
);
