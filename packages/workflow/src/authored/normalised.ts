import type { z } from "zod";
import type { TaskNode } from "../workflow.ts";
import type { nodeFields } from "./fields.ts";
import type { taskFields } from "./task.ts";

type Labels = z.output<z.ZodObject<typeof nodeFields>>;
type Settings = z.output<z.ZodObject<typeof taskFields>>;

/** Absent fields stay absent: the normalised text, and so the version, must not depend on how a default was written. */
export function labels({ id, name, description }: Labels) {
  return { id, ...optional("name", name), ...optional("description", description) };
}

/** One field, or none. */
export function optional<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value };
}

export function taskSettings(authored: Settings): Omit<TaskNode, "id" | "name" | "description" | "type" | "executor"> {
  const { timeout, effects, onError, retry, isolation } = authored;
  return {
    timeoutSeconds: timeout,
    ...optional("effects", effects),
    ...optional("onError", onError),
    ...optional("retry", retry && { attempts: retry.attempts, delaySeconds: retry.delay }),
    ...optional("isolation", isolation),
  };
}
