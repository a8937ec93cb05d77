import { z } from "zod";
import { ensure, parseJson } from "./json.ts";

// The policy of the page forbids code that is made at run time, so zod must not compile its checks to code.
z.config({ jitless: true });
const text = z.string();
const count = z.int().min(0);
const hash = text.regex(/^[0-9a-f]{64}$/);
const thumbprint = text.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/);
const signature = text.regex(/^[\w-]{42}[AEIMQUYcgkosw048]\.[\w-]{85}[AQgw]$/);
const base64Pattern = /^[A-Za-z\d+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/;
const base64 = text.refine((value) => value.length % 4 === 0 && base64Pattern.test(value));

/** Stops at the first wrong item. Without this, zod would collect the mistakes of all items of a forged file. */
function checkEach<T>(item: z.ZodType<T>, all: T[] | Record<string, T>, context: z.RefinementCtx) {
  for (const [key, one] of Object.entries(all)) {
    const [issue] = item.safeParse(one).error?.issues ?? [];
    if (issue) return void context.addIssue({ code: "custom", path: [key, ...issue.path] });
  }
}
const listOf = <T>(item: z.ZodType<T>) => z.array(z.custom<T>()).superRefine((all, to) => checkEach(item, all, to));
const mapOf = <T>(one: z.ZodType<T>) => z.record(text, z.custom<T>()).superRefine((all, to) => checkEach(one, all, to));
const Key = z
  .strictObject({ kty: z.literal("EC"), crv: z.literal("P-256"), use: z.literal("sig"), alg: z.literal("ES256") })
  .extend({ x: thumbprint, y: thumbprint, kid: thumbprint, nbf: count, exp: count.optional() });
const KeySet = z.strictObject({ keys: listOf(Key) });
const Withheld = z.strictObject({ withheld: z.enum(["secret", "erased", "size"]) });
const Content = z.union([z.strictObject({ text }), z.strictObject({ blob: z.literal(true) }), Withheld]);
const Contents = mapOf(Content).optional();
const GoneStep = z.strictObject({ text: z.null(), contents: z.undefined().optional() });
const steps = listOf(z.union([z.strictObject({ text, contents: Contents }), GoneStep])).min(1);
const Entry = z.strictObject({ head: text, steps: steps.optional(), contents: Contents });
const scopes = listOf(z.strictObject({ scope: text, entries: listOf(Entry).min(1) })).min(1);
const Run = z
  .strictObject({ execution: text, signature, scopes })
  .extend({ erasure: signature.optional(), definition: text.optional() });
const Proof = z
  .strictObject({ kind: z.literal("nova-proof"), format: z.literal(1), execution: text, made_at: text.refine(isTime) })
  .extend({ contents: z.enum(["none", "digests", "all"]), runs: listOf(Run).min(1), keys: KeySet })
  .extend({ blobs: mapOf(z.union([base64, Withheld])).optional(), stamp: z.strictObject({ token: base64 }).nullable() })
  .extend({ inclusion: z.strictObject({ index: count, path: listOf(hash).max(64) }).nullable() })
  .extend({ root: z.strictObject({ text, signature }).nullable() });
const Place = z.looseObject({ execution: text, scope: text, seq: count });
const Child = z.looseObject({ execution: text, workflow: text, version: count, tip: hash });
const Head = z
  .looseObject({ format: z.literal(1), execution_id: text, scope: text, seq: count, client: text, root: text })
  .extend({ workflow_id: text, workflow_version: count, node_id: text, node_type: text, status: text, timestamp: text })
  .extend({ path_taken: text.nullable(), child: Child.optional(), nodes: count, inner: count.optional() })
  .extend({ frozen: z.literal(true).optional(), sealed: z.literal(true).optional(), reused_from: Place.optional() })
  .extend({ close: z.looseObject({ status: text, count }).optional(), parent: Place.optional(), steps: listOf(hash) })
  .extend({ plan: z.looseObject({ after: text.optional() }).optional(), prev: hash.nullable(), digests: mapOf(hash) });
const FirstHead = Head.extend({ machine: text, definition: hash });
const StepText = z.looseObject({ digests: mapOf(hash).optional() });
export type Proof = z.infer<typeof Proof>;
export type Run = z.infer<typeof Run>;
export type Entry = z.infer<typeof Entry>;
export type Content = z.infer<typeof Content>;
export type KeySet = z.infer<typeof KeySet>;
export type Jwk = z.infer<typeof Key>;
export type Head = z.infer<typeof Head>;

/** Returns whether a text is a time such as `2026-11-28T19:00:00.000Z`, from 1970 on. */
export function isTime(value: string): boolean {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) ? Date.parse(value) : -1;
  return ms >= 0 && new Date(ms).toISOString() === value;
}

/** Parses a file. Throws `SyntaxError`; its message is the end of the sentence "The file is not a proof: ...". */
export function parseProof(file: Uint8Array | string): Proof {
  const proof = parseForm(Proof, readText(file));
  const { contents, runs, blobs, inclusion, root, stamp, keys } = proof;
  const entries = runs.flatMap((run) => run.scopes.flatMap((scope) => scope.entries));
  const allSteps = entries.flatMap((entry) => entry.steps ?? []);
  const parts = [...entries, ...allSteps.filter((step) => step.text !== null)].map((part) => part.contents);
  const isFull = [blobs, ...parts].every((part) => (part !== undefined) === (contents === "all"));
  const isPlain = contents === "all" || runs.every((run) => run.definition === undefined);
  ensure(isFull && isPlain && (contents !== "none" || allSteps.length === 0), "it has other contents than it says");
  ensure(runs[0]?.execution === proof.execution, "its first run is not the run that it proves");
  ensure(!runs.some((run) => run.scopes[0]?.scope !== ""), "a run does not start with its main line");
  const isRooted = root === null ? inclusion === null && stamp === null : inclusion !== null;
  ensure(isRooted, "its root, its inclusion and its time stamp do not belong together");
  const names = [runs.map((run) => run.execution), keys.keys.map(({ kid }) => kid)];
  for (const run of runs) names.push(run.scopes.map(({ scope }) => scope));
  ensure(!names.some((list) => new Set(list).size < list.length), "it has a run, a branch or a key twice");
  return proof;
}

/** These parse the JWK set that NOVA publishes, a head, and the digests in the text of a step, or throw `SyntaxError`. */
export const parseKeys = (file: Uint8Array | string) => parseForm(KeySet, readText(file));
export const parseHead = (head: string, isFirst: boolean): Head => parseForm(isFirst ? FirstHead : Head, head);
export const parseDigests = (step: string) => parseForm(StepText, step).digests ?? {};

function parseForm<T>(form: z.ZodType<T>, json: string): T {
  const { success, data, error } = form.safeParse(parseJson(json));
  const path = z.core.toDotPath(error?.issues[0]?.path ?? []).slice(0, 100);
  ensure(success, path === "" ? "a field is missing or unknown" : `its field "${path}" is missing or has another form`);
  return data as T;
}

function readText(file: Uint8Array | string): string {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  ensure(bytes.length <= 2 ** 28, "it is larger than 256 MB");
  ensure(typeof file !== "string" || file.isWellFormed(), "it has half of a surrogate pair");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SyntaxError("it is not UTF-8", { cause });
  }
}
