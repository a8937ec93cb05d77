import type { z } from "zod";
import type { FindingCode } from "../findings/finding.ts";
import type { WrittenJson } from "../json/exact.ts";
import type { Body, Node, NodeType } from "../workflow.ts";
import type { nodeFields } from "./fields.ts";

/** What a node does, in the words that were written; its settings are read apart. */
export type TaskSource =
  | { kind: "code"; code: string; file?: string; shared: SharedSettings }
  | { kind: "prompt"; prompt: string; file?: string; shared: SharedSettings }
  | { kind: "text"; prompt: string; file?: string; shared: SharedSettings; outputSchema?: WrittenJson };

/** What a workflow says for all of its nodes that run code. */
export interface SharedSettings {
  samples: boolean;
  /** Absent: it does not speak of the network. */
  allow?: string[];
}

/** How many edges a kind of node allows, and what is asked of them; the checks read this and not the type. */
interface Shape<Schema extends NodeSchema> {
  type: NodeType;
  schema: Schema;
  edgesIn: "none" | "any";
  /**
   * `one`: several, all without a condition, are branches that run side by side. `conditions`: each carries one, or
   * "default". `choices`: the same, with the node's own `choices`, or "timeout".
   */
  edgesOut: "none" | "one" | "conditions" | "choices";
  /** Fields whose wrong values have a code of their own. */
  codes?: Partial<Record<string, FindingCode>>;
}

/** A kind that is complete in its fields. */
export interface PlainKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nothing";
  /** `exactly` has the JSON object in a field, with its digits. */
  normalise(authored: z.output<Schema>, exactly: (...steps: string[]) => WrittenJson): Node;
}

/** A kind whose code runs in a sandbox. */
export interface TaskKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "code";
  normalise(authored: z.output<Schema>, source: TaskSource): Node;
}

/** A kind with `nodes` and `edges` of its own. */
export interface BodyKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  holds: "nodes";
  normalise(authored: z.output<Schema>, body: Body): Node;
}

/** One kind of node. A new kind is a new file that exports one of these, plus a line in `kinds`. */
export type NodeKind = PlainKind | TaskKind | BodyKind;

type NodeSchema = z.ZodObject<typeof nodeFields & z.ZodRawShape>;
