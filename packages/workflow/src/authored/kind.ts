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
  // An agent is a text node with tools.
  ["agent", "text"],
]);

/** Returns the kind of executor for a written `executor`; undefined for an unknown `executor`. */
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
  /** Present if no edge may lead to such a node, because it is the first node of a run. */
  edgesIn?: "none";
  /**
   * Says which edges may leave the node. `one`: one edge without a condition, or several as parallel branches.
   * `conditions` and
   * `choices`: each edge has a condition, or "default".
   */
  edgesOut: "none" | "one" | "conditions" | "choices";
  /** Checks the rules that the schema cannot express. It reads the written fields, which may have any type. */
  check?(node: Loose, place: FieldPlace): Iterable<Finding>;
  /** Says why nodes of this kind take no `retry`, and what to use instead. Absent if they take a `retry`. */
  noRetry?: string;
  codes?: Partial<Record<string, FindingCode>>;
}

/** A kind of node that consists only of its fields: it has no code and no nodes of its own. */
export interface PlainKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nothing";
  /** Builds the node. `exactly` returns the JSON object in a field with all digits of its numbers. */
  normalise(authored: z.output<Schema>, exactly: (...steps: string[]) => WrittenJson): Node;
}

export interface TaskKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "code";
  normalise(authored: z.output<Schema>, source: TaskSource, exactly: (...steps: string[]) => WrittenJson): Node;
}

export interface BodyKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nodes";
  normalise(authored: z.output<Schema>, body: Body): Node;
}

/** A kind of node. To add one, export a `NodeKind` from a new file and list it in `kinds`. */
export type NodeKind = PlainKind | TaskKind | BodyKind;

type NodeSchema = z.ZodObject<typeof nodeFields & z.ZodRawShape>;
