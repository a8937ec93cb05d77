import type { z } from "zod";
import type { Executor, Node, NodeType } from "../workflow.ts";
import type { nodeFields } from "./fields.ts";

/** How many edges a kind of node allows, and what is asked of them; the checks read this and not the type. */
interface Shape<Schema extends NodeSchema> {
  type: NodeType;
  schema: Schema;
  edgesIn: "none" | "any";
  /** `conditions`: each edge out carries one, or "default". */
  edgesOut: "none" | "one" | "conditions";
}

/** A kind that only marks a place. */
export interface PlainKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  runsCode: false;
  normalise(authored: z.output<Schema>): Node;
}

/** A kind whose code runs in a sandbox. */
export interface TaskKind<Schema extends NodeSchema = NodeSchema> extends Shape<Schema> {
  runsCode: true;
  normalise(authored: z.output<Schema>, executor: Executor): Node;
}

/** One kind of node. A new kind is a new file that exports one of these, plus a line in `kinds`. */
export type NodeKind = PlainKind | TaskKind;

export type NodeSchema = z.ZodObject<typeof nodeFields & z.ZodRawShape>;
