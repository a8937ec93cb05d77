import type { z } from "zod";
import type { Executor, TaskNode } from "../workflow.ts";
import type { nodeFields } from "./fields.ts";
import { retryOf } from "./retry.ts";
import type { taskFields } from "./task.ts";
import type { SharedSettings, TaskSource } from "./task-source.ts";

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

const usualTimeoutSeconds = { code: 60, prompt: 30 };

export function taskSettings(
  authored: Settings,
  source: TaskSource,
): Omit<TaskNode, "id" | "name" | "description" | "type"> {
  const { timeout, effects, onError, retry, credentials, isolation } = authored;
  return {
    executor: executorOf(authored, source),
    timeoutSeconds: timeout ?? usualTimeoutSeconds[source.kind],
    ...optional("effects", effects),
    ...optional("onError", onError),
    ...optional("retry", retry && retryOf(retry)),
    ...optional("credentials", credentials),
    ...optional("isolation", isolation),
  };
}

function executorOf({ model, limits, ai, network }: Settings, source: TaskSource): Executor {
  const allow = allowed(source.shared, network);
  if (source.kind === "code") {
    const { shared: _, ...code } = source;
    return { ...code, ...optional("allow", allow) };
  }
  const { shared, ...prompt } = source;
  return {
    ...prompt,
    ...optional("model", model),
    samples: ai?.samples ?? shared.samples,
    ...optional("maxCostUsd", limits?.max_cost_usd),
    allow: allow ?? [],
  };
}

/** Hosts of the workflow and of the node; none where neither says a word of them. */
function allowed({ allow }: SharedSettings, network: Settings["network"]): string[] | undefined {
  if (!allow && !network) return undefined;
  return [...new Set([...(allow ?? []), ...(network?.allow ?? [])])].sort();
}
