import { optional } from "../authored/normalised.ts";
import type { SharedSettings } from "../authored/task-source.ts";
import type { WorkflowFields } from "../authored/workflow.ts";

/** What a node takes from the workflow around it. */
export interface Surroundings {
  files: Record<string, string>;
  shared: SharedSettings;
}

/** Of fields that are wrong nothing is taken: there will be no workflow. */
export function sharedSettings(fields: WorkflowFields | undefined): SharedSettings {
  return { samples: fields?.ai?.samples ?? true, ...optional("allow", fields?.network?.allow) };
}
