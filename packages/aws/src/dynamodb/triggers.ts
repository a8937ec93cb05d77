import type { LiveTrigger, TriggerStore } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import { json, requireFormat, texts, value } from "./fields.ts";
import { findItem, hasValues, record, type TableConnection, tableKeys, writeIf } from "./records.ts";

/** Live triggers by key: the mail address, path or name under which events arrive. */
export function createTriggerStore(connection: TableConnection): TriggerStore {
  const triggers = triggerRecord(connection);
  return {
    put(live) {
      const put = triggers.put(live);
      return writeIf(
        put.where(
          ({ workflowId }, { eq, notExists }) => `${notExists(workflowId)} OR ${eq(workflowId, live.workflowId)}`,
        ),
      );
    },
    get: (key) => findItem(triggers.get({ key }), (item) => requireFormat(`trigger "${key}"`, item)),
    async pause({ key, workflowId }, pause) {
      const patch = pause ? triggers.patch({ key }).set({ pause }) : triggers.patch({ key }).remove(["pause"]);
      await writeIf(patch.where(hasValues({ workflowId })));
    },
    async remove({ key, workflowId }) {
      await writeIf(triggers.delete({ key }).where(hasValues({ workflowId })));
    },
  };
}

const triggerRecord = record(
  "trigger",
  {
    ...texts("key", "workflowId"),
    pause: value<NonNullable<LiveTrigger["pause"]>>(),
    trigger: { ...json<Trigger>(), required: true } as const,
  },
  { record: tableKeys("TRIGGER#{key}", "TRIGGER") },
);
