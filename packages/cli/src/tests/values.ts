import { asReference, type BlobRef, type ExactValue, isRawNumber, parseExact } from "@nova/engine";
import { checkContext, checkSchema, keepingDigits } from "@nova/workflow";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type ExactObject, mapMembers, mapValue } from "../input/context.ts";

/**
 * A complete value for comparison, in which bytes are `{"$file": <SHA-256>}`. A key of user data that starts with `$`
 * gets one more `$`, so that it differs from `$file` and from the keys of patterns such as `$approx`.
 */
export type WholeValue = ExactValue;

export interface Blobs {
  /** Loads the bytes with this hash; null if they were erased. */
  load(sha256: string): Promise<Uint8Array | null>;
  /** Receives the reference of bytes, which are not loaded. */
  onBytes?(ref: BlobRef): void;
}

/** The limit for the size of all values in one text. All these values are in memory at the same time. */
const maxBytes = 256 * 1024 * 1024;

/** Reads a recorded value from its JSON text. Throws `InvalidInput` if a part of it was erased. */
export async function wholeValue(json: string, { load, onBytes }: Blobs): Promise<WholeValue> {
  let left = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // `JSON.parse` may change digits of numbers. That does not matter here, because a reference is not user data.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, keyInTest);
    if (ref.type === "bytes") {
      onBytes?.(ref);
      return { $file: ref.sha256 };
    }
    left -= ref.bytes;
    if (left < 0)
      throw new InvalidInput(`a value has more than ${maxBytes} bytes (256 MB) - it is too large for a test`);
    const bytes = await load(ref.sha256);
    if (bytes === null) throw new InvalidInput("contents of the execution were erased - record another execution");
    demandContent(ref, bytes);
    const text = Buffer.from(bytes).toString();
    return ref.type === "text" ? text : mapValue(parseExact(text), visit);
  };
  return mapValue(parseExact(json), visit);
}

/**
 * Converts a key of a record to a key of a test. A record adds a `$` to a key that looks like `$blob`. A test adds a
 * `$` to every key that starts with `$`.
 */
function keyInTest(key: string): string {
  const plain = /^\$\$+blob$/.test(key) ? key.slice(1) : key;
  return plain.startsWith("$") ? `$${plain}` : plain;
}

/** Returns the JSON text of a value for a run. `bytesAs` returns the value that the run gets in place of bytes. */
export function textForRun(value: WholeValue, bytesAs: (sha256: string) => ExactValue): string {
  return JSON.stringify(forRun(value, bytesAs));
}

function forRun(value: WholeValue, bytesAs: (sha256: string) => ExactValue): ExactValue {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((one) => forRun(one, bytesAs));
  if (typeof value.$file === "string") return bytesAs(value.$file);
  const plain = (key: string) => (key.startsWith("$$") ? key.slice(1) : key);
  const members = Object.entries(value).map(([key, one]) => [plain(key), forRun(one, bytesAs)]);
  return Object.fromEntries(members);
}

/** A Python expression that must be true for a value; a sandbox evaluates it later. */
export interface Expression {
  python: string;
  value: WholeValue;
}

/**
 * A form is an object in a test that stands for every value that matches it, such as `{"$any": true}`. The first key of
 * the object names the form.
 */
interface Form {
  keys: readonly string[];
  /** Returns a sentence that says how to write the form correctly; undefined if the form is correct. */
  problem(form: ExactObject): string | undefined;
  fits(form: ExactObject, value: WholeValue, later: Expression[]): boolean | Promise<boolean>;
}

const forms: Readonly<Record<string, Form>> = {
  $any: {
    keys: ["$any"],
    problem: ({ $any }) => ($any === true ? undefined : `write {"$any": true}`),
    fits: () => true,
  },
  $approx: {
    keys: ["$approx", "within"],
    problem: ({ $approx, within }) =>
      isRawNumber($approx) && isRawNumber(within) ? undefined : `write {"$approx": 850, "within": 0.01}`,
    fits: ({ $approx, within }, value) =>
      isRawNumber(value) && Math.abs(numberOf(value) - numberOf($approx)) <= numberOf(within),
  },
  $schema: {
    keys: ["$schema"],
    problem({ $schema }) {
      if (!isObject($schema)) return `write {"$schema": {"type": "number"}}`;
      const [first] = checkSchema({ properties: { value: $schema } }).problems;
      return first && `its schema: ${first.message}`;
    },
    async fits({ $schema }, value) {
      const inputs = keepingDigits(JSON.stringify({ properties: { value: $schema } }));
      return (await checkContext({ inputs }, JSON.stringify({ value }))).length === 0;
    },
  },
  $python: {
    keys: ["$python"],
    problem: ({ $python }) =>
      typeof $python === "string" && $python.trim() !== "" ? undefined : `write {"$python": "value > 0"}`,
    fits({ $python }, value, later) {
      later.push({ python: String($python), value });
      return true;
    },
  },
};

/**
 * Returns a sentence about the mistake in an object that has a key with one `$`. Returns undefined if the object is a
 * correct form, such as `{"$any": true}`.
 */
export function formProblem(form: ExactObject): string | undefined {
  const mark = markOf(form) ?? "";
  const known = forms[mark];
  const others = `use one of ${Object.keys(forms).join(", ")}, $file, $text and $json`;
  if (!known) return `there is no form "${mark}" - ${others}; in data, a key that starts with $ needs one more $`;
  const stranger = Object.keys(form).find((key) => !known.keys.includes(key));
  return stranger === undefined ? known.problem(form) : `the form ${mark} has no "${stranger}" - leave it out`;
}

/** Returns the key that makes an object a form, such as `$any`; undefined if the object is plain data. */
export function markOf(value: ExactObject): string | undefined {
  return Object.keys(value).find((key) => /^\$(?!\$)/.test(key));
}

/** Returns whether a value contains a form such as `{"$any": true}` at any depth. */
export function hasForm(value: WholeValue): boolean {
  if (Array.isArray(value)) return value.some(hasForm);
  if (!isObject(value)) return false;
  const mark = markOf(value);
  return mark === undefined ? Object.values(value).some(hasForm) : mark !== "$file";
}

/**
 * Returns whether a value equals the expected value, in every digit, or matches its forms. Adds Python expressions to
 * `later`, because a sandbox evaluates them afterwards.
 */
export async function fits(expected: WholeValue, value: WholeValue, later: Expression[]): Promise<boolean> {
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false;
    const pairs = expected.map((one, index): Pair => [one, value[index] as WholeValue]);
    return allFit(pairs, later);
  }
  if (!isObject(expected)) return JSON.stringify(expected) === JSON.stringify(value);
  const form = forms[markOf(expected) ?? ""];
  if (form) return form.fits(expected, value, later);
  if (!isObject(value)) return false;
  const keys = Object.keys(expected);
  if (keys.length !== Object.keys(value).length || keys.some((key) => !Object.hasOwn(value, key))) return false;
  const pairs = keys.map((key): Pair => [expected[key] as WholeValue, value[key] as WholeValue]);
  return allFit(pairs, later);
}

type Pair = readonly [expected: WholeValue, value: WholeValue];

async function allFit(pairs: readonly Pair[], later: Expression[]): Promise<boolean> {
  for (const [expected, value] of pairs) if (!(await fits(expected, value, later))) return false;
  return true;
}

function isObject(value: ExactValue | undefined): value is ExactObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isRawNumber(value);
}

function numberOf(value: ExactValue | undefined): number {
  return Number(JSON.stringify(value));
}
