import type { AuditRecord, HandOver, Pauses, WorkflowQuotas, WorkflowStates } from "@nova/service";
import { current, FORMAT, optionalNumbers, optionalTexts, texts, value } from "./fields.ts";
import { each, found, indexed, place, record, type TableConnection, unchanged, write, writeIf } from "./records.ts";

/** Which version of a workflow is active, which were deleted, and what of that is not done. */
export function createWorkflowStates(connection: TableConnection): WorkflowStates {
  const states = stateRecord(connection);
  return {
    get: (workflowId) =>
      found(states.get({ workflowId }), ({ open: _, ordered: __, ...state }) =>
        current(`the state of workflow "${workflowId}"`, state),
      ),
    set: (workflowId, changes) => write(states.update({ workflowId }).set({ format: FORMAT, ...changes })),
    move(workflowId, from, { touched = from.touched ?? [], ...to }) {
      const update = states.update({ workflowId }).set({ format: FORMAT, ...to });
      const marked =
        touched.length > 0
          ? update.set({ touched, open: "unsettled", ordered: workflowId })
          : update.remove(["touched", "handedOver", "open", "ordered"]);
      const { active, deleted } = from;
      const before = from.touched?.length ? from.touched : undefined;
      return writeIf(marked.where(unchanged({ active, deleted, touched: before })));
    },
    pause(workflowId, from, to) {
      const update = states.update({ workflowId }).set({ format: FORMAT });
      const changed = isEmpty(to) ? update.remove(["paused"]) : update.set({ paused: to });
      return writeIf(changed.where(unchanged({ paused: isEmpty(from) ? undefined : from })));
    },
    async endDeletion(workflowId, deed) {
      const done = states.update({ workflowId }).remove(["leaving"]);
      await writeIf(done.where(({ leaving }, { eq }) => eq(leaving, deed)));
    },
    async *unsettled() {
      for await (const { workflowId, touched = [], handedOver } of each(states.query.unsettled({ open: "unsettled" })))
        yield { workflowId, touched, ...(handedOver && { handedOver }) };
    },
    async recordHandOver(workflowId, handedOver) {
      const noted = states.update({ workflowId }).set({ handedOver });
      await writeIf(noted.where(({ touched }, { exists }) => exists(touched)));
    },
  };
}

function isEmpty(pauses: Pauses): boolean {
  return Object.keys(pauses).length === 0;
}

const stateRecord = record(
  "workflow-state",
  {
    ...texts("workflowId"),
    ...optionalTexts("ordered"),
    ...optionalNumbers("active", "deleted"),
    before: value<number[]>(),
    touched: value<number[]>(),
    handedOver: value<HandOver>(),
    leaving: value<AuditRecord>(),
    /** There while versions are touched: the keys of a sparse index. */
    open: { type: ["unsettled"] },
    paused: value<Pauses>(),
    quotas: value<WorkflowQuotas>(),
  },
  { record: place("W#{workflowId}", "STATE"), unsettled: indexed("open", "{open}", "{ordered}") },
);
