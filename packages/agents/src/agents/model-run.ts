import type { PipelineMeans, PromptTask } from "@nova/engine";
import type { ModelChoice } from "@nova/workflow";
import type { ProvenCode } from "../lock/keep.ts";
import type { PipelineParts } from "../parts.ts";

/** The data of a node that a model call needs. */
export interface ModelRun {
  readonly task: Pick<PromptTask, "node" | "client" | "version" | "mask" | "earlierUsd" | "spentUsd">;
  readonly executor: { model?: ModelChoice; maxCostUsd?: number };
  readonly means: Pick<PipelineMeans, "journal" | "spentBesideUsd" | "monthBudget" | "timeLeftMs" | "signal" | "now">;
  readonly parts: Pick<PipelineParts, "models" | "defaultModel" | "clock">;
  /** Costs of this node's steps. */
  spent: ProvenCode["cost"];
}
