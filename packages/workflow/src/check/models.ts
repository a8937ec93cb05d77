import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import type { LockedCode } from "../lock/lock-file.ts";
import type { WorkflowSource } from "../parse/read.ts";
import { executorOf, type Outline } from "./outline.ts";

/** NOVA442: nodes that ask a model although no model may be asked. */
export function* checkModels(
  outlines: readonly Outline[],
  models: false | undefined,
  { modelsOff }: WorkflowSource,
  locked: Readonly<Record<string, LockedCode>> = {},
): Iterable<Finding> {
  if (models !== false && !modelsOff) return;
  const why = models === false ? '"models": false of the workflow forbids that' : "NOVA_MODELS is off here";
  const otherwise = models === false ? "remove one of the two" : "unset NOVA_MODELS";
  for (const node of outlines.flatMap(({ nodes }) => nodes)) {
    const { id, path } = node;
    const kind = executorOf(node)?.kind ?? "code";
    if (kind === "code" || (kind === "prompt" && Object.hasOwn(locked, id))) continue;
    const wayOut = kind === "prompt" ? "lock its code with nova lock, or write it" : otherwise;
    yield finding("NOVA442", at(path, "executor"), `node "${id}" asks a model, and ${why} - ${wayOut}`);
  }
}
