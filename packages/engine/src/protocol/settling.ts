import { type Node, type RunErrorClass, runErrors } from "@nova/workflow";
import type { Plan } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { HeldNode, NodeDefinition } from "./definition.ts";
import type { CaughtError } from "./event.ts";
import type { Closed } from "./finish-close.ts";

/** The failure of a node that has no outcome of its own. */
export interface Reason {
  class: RunErrorClass;
  message: string;
}

/** The ports, and how the kinds of nodes settle a turn: the protocol asks their table, which is built on it. */
export interface KindPorts extends Ports {
  /** False of nodes that commit without one: start and end. */
  holdsTurn(node: Node): boolean;
  /**
   * Gives a turn that is `failing` or `closed` its entry. Before a failed entry is written nothing of the link is
   * alive.
   */
  settleTurn(ports: SettlingPorts, held: HeldNode, reason: Reason): Promise<StoredEntry>;
  /** SHA-256 of all that a text node would ask its model at a place; undefined of any other node. */
  asked(position: Position, definition: NodeDefinition): Promise<string | undefined>;
  /** The address where a later wait continues by one `POST`; null if there is no such wait. */
  resumeUrl(position: Position, node: string): Promise<string | null>;
  /** Whether a node may run in an execution that does nothing outside and takes its outcomes from a document. */
  staysInside(position: Position, plan: Plan, node: Node): Promise<boolean>;
}

/** A workflow node's outcome needs its execution to end: `settlingPorts` in close.ts can do that. */
export interface SettlingPorts extends KindPorts {
  /** Stops an execution and closes its chain, if it is not over; answers how it ended. */
  endChild(child: { id: string; stateMachineArn: string }): Promise<Closed>;
}

/**
 * Turns the error of a Catch into a reason: NOVA's own classes stay, any other error becomes an interruption that names
 * it.
 */
export function reasonOf({ Error: name, Cause: cause }: CaughtError): Reason {
  const message = messageOf(cause);
  if (Object.hasOwn(runErrors, name)) return { class: name as RunErrorClass, message };
  if (name === "States.Timeout")
    return { class: "NodeTimeout", message: "Step Functions ended the task at its time limit" };
  return { class: "NodeInterrupted", message: `${name}: ${message}` };
}

/** The cause of a Lambda's error is JSON with `errorMessage`; of anything else it is text. */
function messageOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { errorMessage?: unknown } | null;
    if (typeof parsed?.errorMessage === "string") return parsed.errorMessage;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return cause;
}
