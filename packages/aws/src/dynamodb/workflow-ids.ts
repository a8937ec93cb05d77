import { reaching } from "../clients/outage.ts";
import { plainly } from "./options.ts";

/** Sorts behind every version that its ten digits can hold. */
const behindVersions = 9_999_999_999;
/** Of an index that is sorted by workflow and version. */
const onePage = { ...plainly, attributes: ["workflowId" as const], limit: 200 };

interface Position {
  workflowId: string;
  version: number;
}

interface PageQuery {
  go(options: typeof onePage): Promise<{ data: Pick<Position, "workflowId">[]; cursor: string | null }>;
}

/**
 * Ids behind `after`, in order, each once. Behind each page it goes on with the next workflow, so that neither many
 * workflows nor many versions of one take many queries.
 */
export async function* workflowIds(behind: (last: Position) => PageQuery, after = ""): AsyncGenerator<string> {
  let last = after;
  for (;;) {
    const query = behind({ workflowId: last, version: behindVersions });
    const { data, cursor } = await reaching("DynamoDB", () => query.go(onePage));
    for (const { workflowId } of data) {
      if (workflowId !== last) yield workflowId;
      last = workflowId;
    }
    if (cursor === null) return;
  }
}
