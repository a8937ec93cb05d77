import type { NovaClient } from "@nova/client";
import type { RawJson } from "@nova/engine";
import { z } from "zod";

/** The client and the limits of a tool call. */
export interface Caller {
  nova: NovaClient;
  /** The longest time in seconds that one call may wait for a run. */
  maxWaitSeconds: number;
}

/** A link to a resource. The resource contains a text that is too long for the result. */
export interface Link {
  uri: string;
  /** The part of the result that the resource contains in full, such as `the context`. */
  name: string;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  output: Output;
  hints: { readOnlyHint?: true; destructiveHint?: boolean; idempotentHint?: true };
  call(asked: z.output<Input>, caller: Caller): Promise<Called<z.input<Output>>>;
}

export interface Called<Result> {
  result: Result;
  /**
   * Links to resources that contain a part of the result in full. Absent: if the call only reads, the answer links to
   * the resource that repeats the call.
   */
  whole?: readonly Link[];
  /**
   * True if the result contains only a part of a value. The answer then links to the whole value, even if the result is
   * small.
   */
  isPart?: boolean;
}

export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(described: Tool<Input, Output>): Tool {
  return described as unknown as Tool;
}

export const reads = { readOnlyHint: true } as const;
export const adds = { destructiveHint: false } as const;
export const changes = { destructiveHint: true } as const;

/** Returns whether a call only reads, so that a resource may repeat it. */
export function onlyReads({ hints }: Pick<Tool, "hints">, asked: Readonly<Record<string, unknown>>): boolean {
  return hints.readOnlyHint === true || asked.dry_run === true;
}

/**
 * The largest arguments of a link in bytes, as JSON in UTF-8. Larger arguments could make the link as large as the
 * result.
 */
const maxAskedBytes = 2 * 1024;

/** Links to the resource that repeats a call and has its full result. Returns no link if the arguments are too large. */
export function linkToCall(call: string, asked: Readonly<Record<string, unknown>>, name = "the result"): Link[] {
  const text = JSON.stringify(asked);
  if (Buffer.byteLength(text) > maxAskedBytes) return [];
  return [{ uri: `nova://results/${call}?asked=${encodeURIComponent(text)}`, name }];
}

/** Returns the JSON text of a value that the exact client has read. */
export function exactText(value: unknown): string | null {
  return value === null || value === undefined ? null : (value as RawJson).text;
}

export const Execution = z.string().describe("id of a run, exec_...");
export const Draft = z.string().describe("id of a draft, ses_...");
export const WorkflowId = z.string().describe("id of a workflow");
export const JsonText = z
  .string('must be a JSON object as text, such as "{\\"total\\": 1.10}", so that numbers keep their digits')
  .describe("a JSON object as text, so that numbers keep their digits");
export const Next = z.string().describe("the advisable next call");

export const Finding = z.object({
  code: z.string(),
  severity: z.string(),
  path: z.string(),
  message: z.string(),
});
export type Finding = z.output<typeof Finding>;

/** Lists errors before warnings. */
export function listFindings(findings: readonly Finding[]): Finding[] {
  const sorted = [...findings].sort((a, b) => a.severity.localeCompare(b.severity));
  return sorted.map(({ code, severity, path, message }) => ({ code, severity, path, message }));
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}
