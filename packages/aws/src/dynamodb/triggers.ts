import type { LiveTrigger, TriggerStore } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import { checkFormat, FORMAT, json, texts, value } from "./fields.ts";
import { having, place, read, record, type TableConnection, writeIf } from "./records.ts";

/** What is written today; format 1 is read, too. */
export const triggerFormats = { writes: 2, reads: [1, 2] } as const;

/** What starts runs from outside, by what comes in. */
export function createTriggerStore(connection: TableConnection): TriggerStore {
  const triggers = triggerRecord(connection);
  return {
    put(live) {
      const put = triggers.put({ ...live, format: triggerFormats.writes });
      return writeIf(
        put.where(
          ({ workflowId }, { eq, notExists }) => `${notExists(workflowId)} OR ${eq(workflowId, live.workflowId)}`,
        ),
      );
    },
    async get(key) {
      const item = await read(triggers.get({ key }));
      if (!item) return undefined;
      checkFormat(`trigger "${key}"`, item.format, triggerFormats.reads);
      return { ...item, format: FORMAT };
    },
    async pause({ key, workflowId }, pause) {
      const patch = pause ? triggers.patch({ key }).set({ pause }) : triggers.patch({ key }).remove(["pause"]);
      await writeIf(patch.where(having({ workflowId })));
    },
    async remove({ key, workflowId }) {
      await writeIf(triggers.delete({ key }).where(having({ workflowId })));
    },
  };
}

const triggerRecord = record(
  "trigger",
  {
    ...texts("key", "workflowId"),
    pause: value<NonNullable<LiveTrigger["pause"]>>(),
    /** Of format 1 it was a map. */
    trigger: { ...json<Trigger>(), required: true } as const,
  },
  { record: place("TRIGGER#{key}", "TRIGGER") },
);
