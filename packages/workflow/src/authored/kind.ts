import type { z } from "zod";
import type { Finding, FindingCode } from "../findings/finding.ts";
import type { Loose, WrittenJson } from "../json/exact.ts";
import type { Body, Node, NodeType } from "../workflow.ts";
import type { FieldPlace } from "./field-check.ts";
import type { nodeFields } from "./fields.ts";

/** The written code or prompt of a node. Its settings are read separately. */
export type TaskSource =
  | { kind: "code"; code: string; file?: string; shared: SharedSettings }
  | { kind: "prompt"; prompt: string; file?: string; shared: SharedSettings }
  | { kind: "text"; prompt: string; file?: string; shared: SharedSettings; outputSchema?: WrittenJson };

export type ExecutorKind = TaskSource["kind"];

const kinds = new Map<unknown, ExecutorKind>([
  [undefined, "code"],
  ["code", "code"],
  ["e2b", "code"],
  ["prompt", "prompt"],
  ["cached", "prompt"],
  ["text", "text"],
]);

/** Maps a written `executor` to its kind; undefined for an unknown one. */
export function executorKind(written: unknown): ExecutorKind | undefined {
  return kinds.get(written);
}

export interface SharedSettings {
  samples: boolean;
  allow?: string[];
}

interface Shape<Schema extends NodeSchema> {
  type: NodeType;
  schema: Schema;
  edgesIn: "none" | "any";
  /** `one`: several edges without conditions are branches. `conditions`, `choices`: each edge has one, or "default". */
  edgesOut: "none" | "one" | "conditions" | "choices";
  /** Checks the rules that the schema cannot express. It reads the written fields, which may have any type. */
  check?(node: Loose, place: FieldPlace): Iterable<Finding>;
  /** Why the kind has no `retry`, and its alternative. */
  noRetry?: string;
  codes?: Partial<Record<string, FindingCode>>;
}

/** A kind that consists of its fields only. */
export interface PlainKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nothing";
  /** `exactly` returns the JSON object in a field, with its digits. */
  normalise(authored: z.output<Schema>, exactly: (...steps: string[]) => WrittenJson): Node;
}

export interface TaskKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "code";
  normalise(authored: z.output<Schema>, source: TaskSource): Node;
}

export interface BodyKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nodes";
  normalise(authored: z.output<Schema>, body: Body): Node;
}

/** A kind of node. A new kind is a new file that exports one of these, and a line in `kinds`. */
export type NodeKind = PlainKind | TaskKind | BodyKind;

type NodeSchema = z.ZodObject<typeof nodeFields & z.ZodRawShape>;
