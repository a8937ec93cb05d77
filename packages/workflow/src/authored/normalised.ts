import type { z } from "zod";
import type { TaskNode } from "../workflow.ts";
import type { nodeFields } from "./fields.ts";
import type { taskFields } from "./task.ts";

type Labels = z.output<z.ZodObject<typeof nodeFields>>;
type Settings = z.output<z.ZodObject<typeof taskFields>>;

/** Absent fields stay absent: the normalised text, and so the version, must not depend on how a default was written. */
export function labels({ id, name, description }: Labels) {
  return { id, ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
}

export function taskSettings(authored: Settings): Omit<TaskNode, "id" | "name" | "description" | "type" | "executor"> {
  const { timeout, effects, onError, retry, isolation } = authored;
  return {
    timeoutSeconds: timeout,
    ...(effects !== undefined && { effects }),
    ...(onError !== undefined && { onError }),
    ...(retry !== undefined && { retry: { attempts: retry.attempts, delaySeconds: retry.delay } }),
    ...(isolation !== undefined && { isolation }),
  };
}
