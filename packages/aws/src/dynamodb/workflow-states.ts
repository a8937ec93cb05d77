import type { AuditRecord, HandOver, Pauses, WorkflowQuotas, WorkflowStates } from "@nova/service";
import { FORMAT, optionalNumbers, optionalTexts, requireFormat, texts, value } from "./fields.ts";
import {
  findItem,
  indexKeys,
  isUnchanged,
  readEach,
  record,
  type TableConnection,
  tableKeys,
  writeIf,
  writeItem,
} from "./records.ts";

/** The active version of each workflow, its deleted versions, and the changes that are not finished yet. */
export function createWorkflowStates(connection: TableConnection): WorkflowStates {
  const states = stateRecord(connection);
  return {
    get: (workflowId) =>
      findItem(states.get({ workflowId }), ({ open: _, ordered: __, ...state }) =>
        requireFormat(`the state of workflow "${workflowId}"`, state),
      ),
    set: (workflowId, changes) => writeItem(states.update({ workflowId }).set({ format: FORMAT, ...changes })),
    move(workflowId, from, { touched = from.touched ?? [], ...to }) {
      const update = states.update({ workflowId }).set({ format: FORMAT, ...to });
      const marked =
        touched.length > 0
          ? update.set({ touched, open: "unsettled", ordered: workflowId })
          : update.remove(["touched", "handedOver", "open", "ordered"]);
      const { active, deleted } = from;
      const before = from.touched?.length ? from.touched : undefined;
      return writeIf(marked.where(isUnchanged({ active, deleted, touched: before })));
    },
    pause(workflowId, from, to) {
      const update = states.update({ workflowId }).set({ format: FORMAT });
      const changed = isEmpty(to) ? update.remove(["paused"]) : update.set({ paused: to });
      return writeIf(changed.where(isUnchanged({ paused: isEmpty(from) ? undefined : from })));
    },
    async endDeletion(workflowId, deed) {
      const done = states.update({ workflowId }).remove(["leaving"]);
      await writeIf(done.where(({ leaving }, { eq }) => eq(leaving, deed)));
    },
    async *unsettled() {
      for await (const { workflowId, touched = [], handedOver } of readEach(
        states.query.unsettled({ open: "unsettled" }),
      ))
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
    /** Key of a sparse index, with `ordered`; set while `touched` is. */
    open: { type: ["unsettled"] },
    paused: value<Pauses>(),
    quotas: value<WorkflowQuotas>(),
  },
  { record: tableKeys("W#{workflowId}", "STATE"), unsettled: indexKeys("open", "{open}", "{ordered}") },
);
