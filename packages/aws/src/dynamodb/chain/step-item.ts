import type { LinkId, StoredStep } from "@nova/engine";
import { checkFormat, FORMAT } from "../format.ts";
import { type Item, numberIn, numberValue, textIn, textValue } from "./attributes.ts";
import { contentsOf, contentsValue } from "./contents.ts";
import { chainPartition, partitionKey, stepKey } from "./keys.ts";
import { misplaced, placeIn } from "./link-item.ts";

/** One agent run of a node, in the partition of its link. */
export function stepItem({ execution, scope, seq }: LinkId, { step, text, hash, contents }: StoredStep): Item {
  const partition = chainPartition(execution, scope);
  return {
    pk: textValue(partitionKey(partition)),
    sk: textValue(stepKey(scope, seq, step)),
    partition: textValue(partition),
    scope: textValue(scope),
    seq: numberValue(seq),
    step: numberValue(step),
    format: numberValue(FORMAT),
    text: textValue(text),
    hash: textValue(hash),
    ...(contents && { contents: contentsValue(contents) }),
    __edb_e__: textValue("step"),
    __edb_v__: textValue("1"),
  };
}

export function stepOf(at: LinkId, item: Item): StoredStep {
  const step = numberIn(item, "step") ?? 0;
  const { scope, seq } = placeIn(item);
  if (textIn(item, "sk") !== stepKey(scope, seq, step)) throw misplaced(item);
  checkFormat(`step ${step} of link ${at.seq} of ${at.execution}`, numberIn(item, "format"));
  return {
    step,
    text: textIn(item, "text") ?? "",
    hash: textIn(item, "hash") ?? "",
    ...(item.contents && { contents: contentsOf(item.contents) }),
  };
}
