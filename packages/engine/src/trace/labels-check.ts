import { isDeepStrictEqual } from "node:util";
import { labelsIn } from "../kinds/start/labels.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Erasures } from "./erasures.ts";

/**
 * The difference between the labels of a record and those of its link 0. An erasure removes the labels of the record
 * first.
 */
export async function labelsMisfit(ports: Ports, record: Execution, erasures: Erasures): Promise<string | undefined> {
  const { entry } = await ports.chain.read({ execution: record.id, scope: "", seq: 0 });
  const labels = entry && (await labelsIn(ports, entry));
  if (isDeepStrictEqual(record.labels, labels)) return undefined;
  if (record.labels === undefined && (await erasures.has(record.id))) return undefined;
  return 'the record of the run was changed: its "labels" are others than those of link 0';
}
