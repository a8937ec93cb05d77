import { isDeepStrictEqual } from "node:util";
import { type Member, membersOf } from "@nova/workflow";
import { type Head, headOf, type Plan, type ReusedLink } from "../chain/head.ts";
import { OutcomesRefused, parseOutcome, type WrittenOutcome } from "../chain/outcomes.ts";
import { readChanges } from "../chain/position.ts";
import { offloadMembers } from "../context/offload.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import type { LinkProblem } from "./content-check.ts";
import type { Erasures } from "./erasures.ts";
import type { NamedBlobs } from "./named-blobs.ts";

/** The parts of a run's check that the check of the document uses. */
interface Checking {
  blobs: NamedBlobs;
  /** Collects executions that are gone. */
  gone: Set<string>;
  erasures: Erasures;
}

/** The problem of the document that a plan names: other bytes, or a written outcome that differs from the entry it names. */
export async function documentProblem(
  ports: Ports,
  head: Head,
  { outcomes: hash }: Plan,
  { blobs, ...checking }: Checking,
): Promise<LinkProblem | undefined> {
  const document = await blobs.text(head, { place: "the document of outcomes", ref: { sha256: hash, type: "json" } });
  if ("bad" in document) return document.bad;
  for (const { key: place, json } of document.text === null ? [] : membersOf(document.text)) {
    const message = await outcomeProblem(ports, place, json, checking);
    if (message !== undefined) return { message };
  }
  return undefined;
}

async function outcomeProblem(ports: Ports, place: string, json: string, checking: Omit<Checking, "blobs">) {
  try {
    const outcome = parseOutcome(place, json);
    // The walk compares entries that reuse an outcome with their source.
    if ("entry" in outcome) return undefined;
    const { from } = outcome;
    if (!from || !("execution" in from) || (await isFrom(ports, outcome, from, checking))) return undefined;
    const { seq, scope, execution } = from;
    return `the outcome of "${place}" is another than that of link ${seq}${scope} of ${execution}, which it names`;
  } catch (error) {
    if (error instanceof OutcomesRefused) return error.message;
    throw error;
  }
}

/** Returns whether a written outcome equals that of the entry that it names. Also true if the entry no longer exists. */
async function isFrom(
  ports: Ports,
  outcome: WrittenOutcome,
  from: ReusedLink,
  { gone, erasures }: Omit<Checking, "blobs">,
): Promise<boolean> {
  const { entry } = await ports.chain.read(from);
  const isThere = entry && "context" in entry.contents;
  if (!isThere) gone.add(from.execution);
  if (!entry) return true;
  if (!isThere && !(await erasures.has(from.execution))) return false;
  const { status, decision_result, error_class } = headOf(entry);
  const isSame =
    entry.hash === from.hash &&
    sha256(entry.head) === from.hash &&
    (status === "failed") === (outcome.error !== undefined) &&
    decision_result === outcome.decision &&
    error_class === outcome.error?.class;
  return isSame && (!isThere || (await hasChanges(ports, outcome, entry)));
}

async function hasChanges(ports: Ports, { set, delete: deleted }: WrittenOutcome, entry: StoredEntry) {
  const changes = await readChanges(entry, ports.blobs);
  // Entries store large values as references.
  const stored = await offloadMembers(set, async () => undefined);
  const text = (members: readonly Member[]) => members.map(({ key, json }) => `${JSON.stringify(key)}:${json}`).sort();
  const own = [text(stored), deleted.toSorted()];
  return isDeepStrictEqual(own, [text(changes.set), changes.delete.toSorted()]);
}
