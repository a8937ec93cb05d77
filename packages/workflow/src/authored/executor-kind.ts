import type { TaskSource } from "./task-source.ts";

/** `text` is reserved: understood, and refused. */
export type ExecutorKind = TaskSource["kind"] | "text";

const kinds = new Map<unknown, ExecutorKind>([
  [undefined, "code"],
  ["code", "code"],
  ["e2b", "code"],
  ["prompt", "prompt"],
  ["cached", "prompt"],
  ["text", "text"],
]);

/** Of an `executor` as it was written, or left out; undefined for what is none. */
export function executorKind(written: unknown): ExecutorKind | undefined {
  return kinds.get(written);
}

export function isPrompt(written: unknown): boolean {
  return executorKind(written) === "prompt";
}
