import type { WorkflowNode } from "@nova/workflow";
import type { LinkId, Turn } from "../../ports/chain.ts";
import type { WaitsFor } from "../waits-for.ts";
import { childId } from "./child-id.ts";

/** The execution that the node runs. */
export async function toldChild(_ports: unknown, _node: WorkflowNode, at: LinkId, { since }: Turn): Promise<WaitsFor> {
  return { kind: "workflow", until: null, execution_id: childId(at, since) };
}
