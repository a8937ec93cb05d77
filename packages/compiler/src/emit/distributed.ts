import { createHash } from "node:crypto";
import type { Branch, ChoiceRule, DistributedMapState, State, States } from "../asl.ts";

/** Step Functions: the longest label of a distributed Map. */
const longestLabel = 40;

/** What a Map has in place of an inline list and body: the numbers in S3, and for each an execution that runs `body`. */
export function ownExecutions(
  map: string,
  body: Branch,
): Pick<DistributedMapState, "ItemReader" | "Label" | "ItemProcessor"> {
  return {
    ItemReader: {
      Resource: "arn:aws:states:::s3:getObject",
      ReaderConfig: { InputType: "JSON" },
      Parameters: { "Bucket.$": "$.manifest.bucket", "Key.$": "$.manifest.key" },
    },
    ...(map.length <= longestLabel && { Label: map }),
    ItemProcessor: { ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" }, ...renamed(body) },
  };
}

/** The same states under other names: no two states of a machine may have one name. */
function renamed({ StartAt, States: states }: Branch): Branch {
  const all = Object.entries(states).map(([name, state]): [string, State] => [elsewhere(name), renamedState(state)]);
  return { StartAt: elsewhere(StartAt), States: Object.fromEntries(all) };
}

function renamedState(state: State): State {
  const onward = { ...state, ...("Next" in state && state.Next !== undefined && { Next: elsewhere(state.Next) }) };
  const caught = "Catch" in onward && onward.Catch ? { ...onward, Catch: onward.Catch.map(renamedNext) } : onward;
  switch (caught.Type) {
    case "Choice": {
      const Choices = caught.Choices.map(renamedNext) as [ChoiceRule, ...ChoiceRule[]];
      return { ...caught, Choices, Default: elsewhere(caught.Default) };
    }
    case "Parallel":
      return { ...caught, Branches: caught.Branches.map(renamed) };
    case "Map":
      return { ...caught, ItemProcessor: { ...caught.ItemProcessor, ...renamed(caught.ItemProcessor) } } as State;
    default:
      return caught as States[string];
  }
}

function renamedNext<Rule extends { Next: string }>(rule: Rule): Rule {
  return { ...rule, Next: elsewhere(rule.Next) };
}

const ending = ".distributed";
/** Step Functions: the longest name of a state. */
const longestName = 80;
const digits = 8;

/**
 * The name of a state for items with executions of their own. One that would be too long keeps its beginning, and has a
 * hash for the rest.
 */
export function elsewhere(name: string): string {
  if (name.length + ending.length <= longestName) return name + ending;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, digits);
  return `${name.slice(0, longestName - ending.length - digits - 1)}.${hash}${ending}`;
}
