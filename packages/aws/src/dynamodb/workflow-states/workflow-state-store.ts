import type { WorkflowStates } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { workflowStateEntity } from "./workflow-state-entity.ts";

const store = "DynamoDB";

/** Which version of a workflow is active, and which were deleted. */
export function createWorkflowStates(connection: TableConnection): WorkflowStates {
  const entity = whenAsked(() => workflowStateEntity(connection));
  return {
    async get(workflowId) {
      const { data } = await reaching(store, () => entity.get({ workflowId }).go(consistently));
      if (!data) return undefined;
      checkFormat(`the state of workflow "${workflowId}"`, data.format);
      return { ...data, format: FORMAT };
    },
    async set(workflowId, changes) {
      const update = entity.update({ workflowId }).set({ format: FORMAT, ...changes });
      await reaching(store, () => update.go(plainly));
    },
    move(workflowId, from, to) {
      const update = entity.update({ workflowId }).set({ format: FORMAT, ...to });
      const unchanged = update
        .where(({ active }, { eq, notExists }) =>
          from.active === undefined ? notExists(active) : eq(active, from.active),
        )
        .where(({ deleted }, { eq, notExists }) =>
          from.deleted === undefined ? notExists(deleted) : eq(deleted, from.deleted),
        );
      return reachingIf(store, () => unchanged.go(plainly));
    },
  };
}
