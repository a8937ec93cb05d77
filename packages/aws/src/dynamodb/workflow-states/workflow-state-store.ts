import type { Pauses, WorkflowStates } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { workflowStateEntity } from "./workflow-state-entity.ts";

/** Which version of a workflow is active, which were deleted, and what of that is not done. */
export function createWorkflowStates(connection: TableConnection): WorkflowStates {
  const entity = whenAsked(() => workflowStateEntity(connection));
  return {
    async get(workflowId) {
      const { data } = await reaching(store, () => entity.get({ workflowId }).go(consistently));
      if (!data) return undefined;
      checkFormat(`the state of workflow "${workflowId}"`, data.format);
      const { open: _, ordered: __, ...state } = data;
      return { ...state, format: FORMAT };
    },
    async set(workflowId, changes) {
      const update = entity.update({ workflowId }).set({ format: FORMAT, ...changes });
      await reaching(store, () => update.go(plainly));
    },
    move(workflowId, from, { touched = from.touched ?? [], ...to }) {
      const update = entity.update({ workflowId }).set({ format: FORMAT, ...to });
      const marked =
        touched.length > 0
          ? update.set({ touched, open: "unsettled", ordered: workflowId })
          : update.remove(["touched", "handedOver", "open", "ordered"]);
      const unchanged = marked
        .where(({ active }, { eq, notExists }) =>
          from.active === undefined ? notExists(active) : eq(active, from.active),
        )
        .where(({ deleted }, { eq, notExists }) =>
          from.deleted === undefined ? notExists(deleted) : eq(deleted, from.deleted),
        )
        .where((state, { eq, notExists }) =>
          from.touched?.length ? eq(state.touched, from.touched) : notExists(state.touched),
        );
      return reachingIf(store, () => unchanged.go(plainly));
    },
    pause(workflowId, from, to) {
      const update = entity.update({ workflowId }).set({ format: FORMAT });
      const changed = isEmpty(to) ? update.remove(["paused"]) : update.set({ paused: to });
      const unchanged = changed.where(({ paused }, { eq, notExists }) =>
        isEmpty(from) ? notExists(paused) : eq(paused, from),
      );
      return reachingIf(store, () => unchanged.go(plainly));
    },
    async hasLeft(workflowId, deed) {
      const done = entity
        .update({ workflowId })
        .remove(["leaving"])
        .where(({ leaving }, { eq }) => eq(leaving, deed));
      await reachingIf(store, () => done.go(plainly));
    },
    async *unsettled() {
      const all = { ...plainly, pages: "all" } as const;
      const { data } = await reaching(store, () => entity.query.unsettled({ open: "unsettled" }).go(all));
      for (const { workflowId, touched = [], handedOver } of data)
        yield { workflowId, touched, ...(handedOver && { handedOver }) };
    },
    async noteHandedOver(workflowId, handedOver) {
      const noted = entity
        .update({ workflowId })
        .set({ handedOver })
        .where(({ touched }, { exists }) => exists(touched));
      await reachingIf(store, () => noted.go(plainly));
    },
  };
}

function isEmpty(pauses: Pauses): boolean {
  return Object.keys(pauses).length === 0;
}
