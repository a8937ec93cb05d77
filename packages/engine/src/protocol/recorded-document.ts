import type { Member } from "@nova/workflow";
import { type Node, startOf, type Workflow } from "@nova/workflow";
import { type DocumentPlan, headOf } from "../chain/head.ts";
import { parseOutcome, readOutcomes } from "../chain/outcomes.ts";
import { type Position, readKept } from "../chain/position.ts";
import { offloadMembers, savingTo } from "../context/offload.ts";
import type { Ports } from "../ports/index.ts";
import type { NodeDefinition } from "./definition.ts";
import { codeless, failed, type Outcome, type RecordedOutcome } from "./outcome.ts";
import { placeName } from "./place-name.ts";
import type { KindPorts } from "./settling.ts";

type Reads = Pick<Ports, "chain" | "blobs">;

/** What the document has for the node at this position. A map reads its list itself, so only its failures are taken. */
export async function outcomeInDocument(
  ports: Reads,
  position: Position,
  { outcomes, within = "" }: DocumentPlan,
  { node }: NodeDefinition,
): Promise<RecordedOutcome | null> {
  const place = within + (await placeName(ports, position, node));
  const text = (await readOutcomes(ports.blobs, position.before, outcomes)).get(place);
  if (text === undefined) return null;
  const { set, delete: deleted, decision, error, from } = parseOutcome(place, text);
  if ("items" in node && !error) return null;
  const isLink = from !== undefined && "execution" in from;
  return {
    decision,
    ...(error ?? { changes: { set: await offloadMembers(set, savingTo(ports, position.before)), delete: deleted } }),
    more: { ...(isLink && { reused: from }), ...(from && !isLink && { edited: from }) },
  };
}

/** What the places of an execution begin with in the document that the node of this position runs; null: it holds none. */
export async function placesInside(
  ports: Reads,
  position: Position,
  { outcomes, within = "" }: DocumentPlan,
  node: Pick<Node, "id">,
): Promise<string | null> {
  const inside = `${within}${await placeName(ports, position, node)}/`;
  const places = (await readOutcomes(ports.blobs, position.before, outcomes)).keys();
  return places.some((place) => place.startsWith(inside)) ? inside : null;
}

/**
 * What the nodes in front of a part of a draft have set, by their ids, and what its start was given: this is in the document
 * alone, and the execution begins with what they have left.
 */
export async function givenOutcomes(
  { chain, blobs }: Reads,
  { before, at: { execution } }: Pick<Position, "before" | "at">,
  { given, nodes }: Pick<Workflow, "given" | "nodes">,
): Promise<ReadonlyMap<string, Member[]>> {
  const first = given && before.visits && (await readKept(chain, { execution, scope: "", seq: 0 }));
  const plan = first && headOf(first).plan;
  if (!plan || "source" in plan) return new Map();
  const places = await readOutcomes(blobs, before, plan.outcomes);
  const start = startOf({ nodes });
  return new Map(
    [...(start ? [start.id] : []), ...given.passed].flatMap((id) => {
      const text = places.get(id);
      const { set, error } = text === undefined ? { set: [], error: true } : parseOutcome(id, text);
      return error ? [] : [[id, set] as const];
    }),
  );
}

/** The failure of a node that may not run here: what it would do outside is not on record. Null where it may. */
export async function refusedHere(
  ports: KindPorts,
  position: Position,
  plan: DocumentPlan,
  definition: NodeDefinition,
): Promise<Outcome | null> {
  const { node } = definition;
  if (await ports.staysInside(position, plan, node)) return null;
  const place = (plan.within ?? "") + (await placeName(ports, position, node));
  return failed(definition, `${noOutcome}: ${place}`, codeless(ports, undefined, position.before));
}

/** How the message of such a failure begins. */
export const noOutcome = `nothing is on record that fits, and only nodes with "effects": false run here`;
