import type { Finding } from "../../findings/finding.ts";

/** Where a node is, and what a sentence about it begins with. */
export interface NodePlace {
  /** `node "read"`. */
  name: string;
  path: string;
}

/** What no schema of a node says: looks at it as it was written, and trusts no field. */
export type FieldCheck = (node: Record<string, unknown>, place: NodePlace) => Iterable<Finding>;
