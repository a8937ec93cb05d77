import type { ResumeLinkStore } from "@nova/engine";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { current } from "./format.ts";
import { place, read, readAll, record, type Stored, type TableConnection, writeIf } from "./records.ts";

/** Links lie beside the tasks of their execution. */
export function createResumeLinkStore(connection: TableConnection): ResumeLinkStore {
  const links = linkRecord(connection);
  return {
    async create(link) {
      await writeIf(links.create(link));
    },
    async get({ execution, id }) {
      const item = await read(links.get({ execution, id }));
      return item ? linkOf(item) : undefined;
    },
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
  { record: place("T#{execution}", "R#{id}") },
);
