import { nodeIndex } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type EntryReference, maxDocumentBytes, writeReferences } from "../chain/outcomes.ts";
import { findCalledVersion } from "../kinds/child/run-child.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { followSource, type SourcePath } from "./follow-source.ts";
import { RestartRefused, type ReuseSelection } from "./selection.ts";
import { entryKey, Source, type SourceEntry } from "./source.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;
/** The reference that a document has for a place. */
export type PlaceReference = [place: string, EntryReference];

/** The document of a restart: all outcomes on the path, also in executions that continue where they failed. */
export async function writeRestartDocument(
  ports: Reads,
  version: WorkflowVersion,
  selection: ReuseSelection,
  path: SourcePath,
): Promise<string> {
  return writeDocument(await collectReferences(ports, version, selection, path, ""));
}

/** `inside`: the start of the places of this execution in the document. */
async function collectReferences(
  ports: Reads,
  version: WorkflowVersion,
  { again = [], inside: parts = {} }: ReuseSelection,
  { reused, stops }: SourcePath,
  inside: string,
): Promise<PlaceReference[]> {
  const all = Array.from(reused, ([place, entry]): PlaceReference => [inside + place, buildReference(entry)]);
  const further = await atOnce([...stops], async ([place, { head }]): Promise<PlaceReference[]> => {
    const part = parts[entryKey(head)];
    const runsAll = again.includes(head.node_id) || (part === undefined && head.status === "success");
    const node = nodeIndex(version.workflow).get(head.node_id)?.node;
    if (!head.child || runsAll || !node || !("workflow" in node)) return [];
    const called = await findCalledVersion(ports, node);
    const source = await Source.read(ports, head.child.execution);
    if ("problem" in called || !source.last) return [];
    const selection = { ...part, again };
    // The version of the other workflow may have changed: what does not fit runs.
    const path = followSource(source, called, selection);
    const start = `${inside}${place}/`;
    const references = await collectReferences(ports, called, selection, path, start);
    return [[start, buildReference(source.last)], ...references];
  });
  return [...all, ...further.flat()];
}

export function buildReference({ head: { execution_id: execution, scope, seq } }: SourceEntry): EntryReference {
  return { entry: { execution, scope, seq } };
}

/** The text of a document of references. Throws `RestartRefused` if it is too large. */
export function writeDocument(references: Iterable<PlaceReference>): string {
  const text = writeReferences(references);
  if (Buffer.byteLength(text) <= maxDocumentBytes) return text;
  throw new RestartRefused("the run would reuse more outcomes than one document can name - start a new execution");
}
