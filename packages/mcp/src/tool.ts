import type { NovaClient } from "@nova/client";
import type { RawJson } from "@nova/engine";
import { z } from "zod";

/** The client and the limits of a tool call. */
export interface Caller {
  nova: NovaClient;
  /** The longest time in seconds that one call may wait for a run. */
  maxWaitSeconds: number;
}

/** A resource to which a result refers, because its text is too long for the result. */
export interface Link {
  uri: string;
  name: string;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  output: Output;
  hints: { readOnlyHint?: true; destructiveHint?: boolean; idempotentHint?: true };
  call(asked: z.output<Input>, caller: Caller): Promise<{ result: z.input<Output>; links?: readonly Link[] }>;
}

export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(described: Tool<Input, Output>): Tool {
  return described as unknown as Tool;
}

export const reads = { readOnlyHint: true } as const;
export const adds = { destructiveHint: false } as const;
export const changes = { destructiveHint: true } as const;

/** The largest text of a result. A longer one becomes a link to a resource. */
export const maxTextBytes = 12 * 1024;

/** Returns a text, or null and a link if the text is too long for a result. */
export function fitText(text: string | null, link: Link): { text: string | null; links: Link[] } {
  if (text === null || Buffer.byteLength(text) <= maxTextBytes) return { text, links: [] };
  return { text: null, links: [link] };
}

export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 3)}...`;
}

/** The JSON text of a value that the exact client has read. */
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

/** The largest number of findings in a result. */
const maxFindings = 20;

/** Keeps errors before warnings, and at most the first twenty findings. */
export function listFindings(findings: readonly Finding[]): Finding[] {
  const sorted = [...findings].sort((a, b) => a.severity.localeCompare(b.severity));
  return sorted.slice(0, maxFindings).map(({ code, severity, path, message }) => {
    return { code, severity, path, message: cutText(message, 500) };
  });
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}
