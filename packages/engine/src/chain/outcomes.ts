import { defined, jsonProblem, type Member, membersOf, type RunErrorClass, runErrors } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import { sha256 } from "../sha256.ts";
import type { Edited, FailureRecord, ReusedLink } from "./head.ts";

/**
 * A document of outcomes: JSON text of an object that has, by the name of a place (`find`, `poll#2`, `each[3].find`,
 * `billing/send`), what the node there came to. Values are as contexts keep them: large ones may be references to blobs of
 * the execution that uses the document.
 */
export type Outcomes = ReadonlyMap<string, string>;

/** What one place came to. */
export interface WrittenOutcome {
  set: Member[];
  delete: string[];
  /** The label of the edge that a decision, or a person, chose. */
  decision: string | null;
  /** It failed, and set nothing. */
  error?: { class: RunErrorClass; failure: FailureRecord };
  /** Where it is from: a link of an earlier execution, or somebody's hand. */
  from?: ReusedLink | Edited;
}

/** A text is no document of outcomes; one sentence that names the place. */
export class OutcomesRefused extends Error {
  override name = "OutcomesRefused";
}

/** Every task of an execution reads it. */
const maxDocumentBytes = 32 * 1024 * 1024;

const Link = z
  .strictObject({
    execution_id: z.string().min(1),
    scope: z.string(),
    seq: z.int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .transform(({ execution_id: execution, ...place }): ReusedLink => ({ execution, ...place }));
const Hand = z
  .strictObject({ edited_by: z.string().min(1), at: z.iso.datetime() })
  .transform(({ edited_by: by, at }): Edited => ({ by, at }));

const Failure = z
  .strictObject({
    class: z.enum(Object.keys(runErrors) as [RunErrorClass, ...RunErrorClass[]]),
    message: z.string(),
    node: z.string().optional(),
    within: z.string().optional(),
    traceback: z.string().optional(),
  })
  .transform(({ class: name, ...failure }) => ({ class: name, failure: defined(failure) }));

const Outcome = z.strictObject({
  set: z.record(z.string(), z.unknown()).default({}),
  delete: z.array(z.string()).default([]),
  decision: z.string().nullable().default(null),
  error: Failure.optional(),
  from: z.union([Link, Hand]).optional(),
});

/** Throws `OutcomesRefused` for what cannot be used, wherever in the document it is. */
export function checkOutcomes(text: string): void {
  if (Buffer.byteLength(text) > maxDocumentBytes)
    throw new OutcomesRefused(
      `the document of outcomes is larger than ${maxDocumentBytes} bytes - put large values into blobs`,
    );
  const problem = jsonProblem(text);
  if (problem !== undefined) throw new OutcomesRefused(`the document of outcomes is no JSON: it ${problem}`);
  if (!text.trimStart().startsWith("{"))
    throw new OutcomesRefused("the document of outcomes is no object - write what each place came to under its name");
  for (const [place, outcome] of parse(text)) parseOutcome(place, outcome);
}

/** Throws `OutcomesRefused`. */
export function parseOutcome(place: string, text: string): WrittenOutcome {
  const parsed = Outcome.safeParse(JSON.parse(text));
  const [issue] = parsed.error?.issues ?? [];
  if (!parsed.success)
    throw new OutcomesRefused(`the outcome of "${place}": ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  const { delete: deleted, decision, error, from } = parsed.data;
  const set = membersOf(membersOf(text).find(({ key }) => key === "set")?.json ?? "{}");
  const mark = set.find(({ key }) => key.startsWith("$"));
  const advice = "such keys mark NOVA's references: use another name";
  if (mark) throw new OutcomesRefused(`the outcome of "${place}" sets "${mark.key}" - ${advice}`);
  if (error && set.length + deleted.length > 0)
    throw new OutcomesRefused(`the outcome of "${place}" is an error, and sets keys - leave out one of them`);
  return { set, delete: deleted, decision, ...defined({ error, from }) };
}

/** Stores a document that `checkOutcomes` lets pass; answers its SHA-256. */
export async function storeOutcomes(blobs: BlobStore, home: BlobHome, text: string): Promise<string> {
  const body = Buffer.from(text);
  const ref = { sha256: sha256(body), bytes: body.length, type: "json" as const };
  await blobs.put(home, ref, body);
  return ref.sha256;
}

/** Kept in a warm Lambda, in characters: every task of an execution asks for the same one, which never changes. */
const kept = new WeakMap<BlobStore, LRUCache<string, Outcomes>>();

export async function readOutcomes(blobs: BlobStore, home: BlobHome, hash: string): Promise<Outcomes> {
  const known = kept.get(blobs) ?? new LRUCache<string, Outcomes>({ maxSize: 2 * maxDocumentBytes });
  kept.set(blobs, known);
  const name = `${home.client}/${home.root}/${hash}`;
  const there = known.get(name);
  if (there) return there;
  const text = Buffer.from(await blobs.get(home, hash)).toString();
  const outcomes = parse(text);
  known.set(name, outcomes, { size: text.length + 1 });
  return outcomes;
}

function parse(text: string): Outcomes {
  return new Map(membersOf(text).map(({ key, json }) => [key, json]));
}
