import type { PipelineMeans, PromptTask } from "@nova/engine";
import type { ModelChoice } from "@nova/workflow";
import type { ProvenCode } from "../lock/keep.ts";
import type { PipelineParts } from "../parts.ts";

/** What a question to a model has to know of the node that asks it. */
export interface ModelRun {
  readonly task: Pick<PromptTask, "node" | "client" | "version" | "mask" | "earlierUsd" | "spentUsd">;
  readonly executor: { model?: ModelChoice; maxCostUsd?: number };
  readonly means: Pick<PipelineMeans, "journal" | "spentBesideUsd" | "monthBudget" | "timeLeftMs" | "signal" | "now">;
  readonly parts: Pick<PipelineParts, "models" | "defaultModel" | "clock">;
  /** What the steps of this node have cost. */
  spent: ProvenCode["cost"];
}
