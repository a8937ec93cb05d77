import {
  defined,
  jsonProblem,
  type Member,
  membersOf,
  objectText,
  type RunErrorClass,
  runErrors,
} from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { EntryId } from "../ports/chain.ts";
import { sha256 } from "../sha256.ts";
import type { Edited, FailureRecord, ReusedEntry } from "./entry.ts";

/** The written outcome of one place. Large values may be references to blobs of the execution that uses the outcome. */
export interface WrittenOutcome {
  set: Member[];
  delete: string[];
  decision: string | null;
  /** JSON text of an agent's reply that is not final (`AgentReply`). The agent judges it like a reply of its model. */
  reply?: string;
  error?: { class: RunErrorClass; failure: FailureRecord };
  /** The entry from which the outcome was copied, or the person who wrote it. */
  from?: ReusedEntry | Edited;
}

/**
 * A reference to an entry of an earlier execution. The outcome of that entry counts at a place, so the document does
 * not repeat its values.
 */
export interface EntryReference {
  entry: EntryId;
  condition?: ReuseCondition;
}

/**
 * The inputs that must be the same for the node as they were for the entry. If one of these inputs differs, the node
 * runs. A list names keys of the context. `context` means all keys, and `asked` means the question of a text node to
 * its model.
 */
export type ReuseCondition = string[] | "context" | "asked";

/** Thrown if a text is no document of places. The message is one sentence that names the place. */
export class OutcomesRefused extends Error {
  override name = "OutcomesRefused";
}

/**
 * The size of the largest document: it has room for references to 200,000 places. The size is limited, because every
 * task of an execution reads the document.
 */
export const maxDocumentBytes = 32 * 1024 * 1024;

const Link = z
  .strictObject({
    execution_id: z.string().min(1),
    scope: z.string(),
    seq: z.int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .transform(({ execution_id: execution, ...place }): ReusedEntry => ({ execution, ...place }));
const Hand = z
  .strictObject({ edited_by: z.string().min(1), at: z.iso.datetime() })
  .transform(({ edited_by: by, at }): Edited => ({ by, at }));

const Failure = z
  .strictObject({
    class: z.enum(Object.keys(runErrors) as [RunErrorClass, ...RunErrorClass[]]),
    message: z.string(),
    node: z.string().optional(),
    within: z.string().optional(),
    reason: z.string().optional(),
    traceback: z.string().optional(),
  })
  .transform(({ class: name, ...failure }) => ({ class: name, failure: defined(failure) }));

const Outcome = z.strictObject({
  set: z.record(z.string(), z.unknown()).default({}),
  delete: z.array(z.string()).default([]),
  decision: z.string().nullable().default(null),
  reply: z.unknown().optional(),
  error: Failure.optional(),
  from: z.union([Link, Hand]).optional(),
});

/** An entry in the document: `exec_01M8.../each@3.0#1` is execution, scope and number. */
const entryPattern = /^([^/#]+)(\/[^#]*)?#(\d+)$/;

const Reference = z
  .strictObject({
    from: z.string().regex(entryPattern),
    if: z.union([z.array(z.string()), z.enum(["context", "asked"])]).optional(),
  })
  .transform(({ from, if: condition }): EntryReference => {
    const [, execution = "", scope = "", seq] = entryPattern.exec(from) ?? [];
    return { entry: { execution, scope, seq: Number(seq) }, ...defined({ condition }) };
  });

/**
 * Writes a document of references. Places are named `find`, `poll#2`, `each[3].find` or `billing/send`; `billing/`
 * stands for the last entry of the execution that `billing` ran.
 */
export function writeReferences(references: Iterable<readonly [place: string, EntryReference]>): string {
  const members = Array.from(references, ([key, { entry, condition }]): Member => {
    const from = `${entry.execution}${entry.scope}#${entry.seq}`;
    return { key, json: JSON.stringify({ from, ...defined({ if: condition }) }) };
  });
  return objectText(members);
}

/** Checks a document. Throws `OutcomesRefused` if the document, or the outcome of one of its places, is not valid. */
export function checkOutcomes(text: string): void {
  if (Buffer.byteLength(text) > maxDocumentBytes)
    throw new OutcomesRefused(
      `the document of places is larger than ${maxDocumentBytes} bytes - put large values into blobs`,
    );
  const problem = jsonProblem(text);
  if (problem !== undefined) throw new OutcomesRefused(`the document of places is no JSON: it ${problem}`);
  if (!text.trimStart().startsWith("{"))
    throw new OutcomesRefused("the document of places is no object - write the outcome of each place under its name");
  for (const { key, json } of membersOf(text)) parseOutcome(key, json);
}

/** Parses the JSON text that a document has for a place. Throws `OutcomesRefused` if the text is no valid outcome. */
export function parseOutcome(place: string, text: string): WrittenOutcome | EntryReference {
  const value = JSON.parse(text) as { from?: unknown } | null;
  const parsed = typeof value?.from === "string" ? Reference.safeParse(value) : Outcome.safeParse(value);
  const [issue] = parsed.error?.issues ?? [];
  if (!parsed.success)
    throw new OutcomesRefused(`the outcome of "${place}": ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  if ("entry" in parsed.data) return parsed.data;
  const { delete: deleted, decision, error, from } = parsed.data;
  const set = membersOf(membersOf(text).find(({ key }) => key === "set")?.json ?? "{}");
  const mark = set.find(({ key }) => key.startsWith("$"));
  const advice = "such keys mark NOVA's references: use another name";
  if (mark) throw new OutcomesRefused(`the outcome of "${place}" sets "${mark.key}" - ${advice}`);
  if (error && set.length + deleted.length > 0)
    throw new OutcomesRefused(`the outcome of "${place}" is an error, and sets keys - leave out one of them`);
  const reply = membersOf(text).find(({ key }) => key === "reply")?.json;
  return { set, delete: deleted, decision, ...defined({ error, from, reply }) };
}

export async function storeOutcomes(blobs: BlobStore, home: BlobHome, text: string): Promise<string> {
  const body = Buffer.from(text);
  const ref = { sha256: sha256(body), bytes: body.length, type: "json" as const };
  await blobs.put(home, ref, body);
  return ref.sha256;
}

/**
 * A JSON object of written outcomes and references to entries, by place. A node runs if its place has no outcome here.
 */
export class OutcomeDocument {
  readonly #texts: ReadonlyMap<string, string>;
  #insides: ReadonlySet<string> | undefined;

  constructor(text: string) {
    this.#texts = new Map(membersOf(text).map(({ key, json }) => [key, json]));
  }

  at(place: string): WrittenOutcome | EntryReference | undefined {
    const text = this.#texts.get(place);
    return text === undefined ? undefined : parseOutcome(place, text);
  }

  /**
   * Whether some places start with the prefix `inside`, such as `billing/`. Such places are in an execution that a node
   * runs.
   */
  hasPlacesIn(inside: string): boolean {
    this.#insides ??= new Set(
      [...this.#texts.keys()].flatMap((place) =>
        Array.from(place.matchAll(/\//g), ({ index }) => place.slice(0, index + 1)),
      ),
    );
    return this.#insides.has(inside);
  }
}

/** Caches documents in memory, because every task of an execution reads the same document. Documents never change. */
const kept = new WeakMap<BlobStore, LRUCache<string, OutcomeDocument>>();

export async function readOutcomes(blobs: BlobStore, home: BlobHome, hash: string): Promise<OutcomeDocument> {
  const known = kept.get(blobs) ?? new LRUCache<string, OutcomeDocument>({ maxSize: 2 * maxDocumentBytes });
  kept.set(blobs, known);
  const name = `${home.client}/${home.root}/${hash}`;
  const there = known.get(name);
  if (there) return there;
  const text = Buffer.from(await blobs.get(home, hash)).toString();
  const document = new OutcomeDocument(text);
  known.set(name, document, { size: text.length + 1 });
  return document;
}
