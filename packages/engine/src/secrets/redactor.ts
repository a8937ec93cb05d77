import { type Member, objectText, RawJson, secretKeys } from "@nova/workflow";
import { Finder, merged, type Range } from "./finder.ts";
import { type Forms, formsOf, type Secret, shortestSecret } from "./forms.ts";

/** The text that replaces a masked secret. */
export const mask = "***";

/** The mark that the harness writes where it cuts a text. Part of a secret may remain on either side. */
export const cutMark = "[...]";
/** The harness cuts a text at most twice, but code may print the mark itself. */
const maxCuts = 20;

/** Tokens of resume links are recognised by their prefix. */
const resumeTokens = /nova_rt_[\w-]+/g;

/** Streams are searched in parts of at least this many bytes. */
const leastSearched = 64 * 1024;

/** Bytes to store contain a secret. */
export class SecretFound extends Error {
  override name = "SecretFound";
}

/**
 * The only place that knows secret values. It masks them in text for people, and finds them in data to store. It knows
 * the forms that `formsOf` lists: secrets that code compresses or encrypts are not found. It takes one pass over the
 * text, however many secrets there are.
 */
export class Redactor {
  readonly isIdle: boolean;
  /** The secrets are unknown, so everything may be secret: nothing is stored, and people see only the mask. */
  readonly #isBlind: boolean;
  readonly #forms: Forms[];
  readonly #inText: Finder;
  #inBytes: Finder | undefined;

  /** `secrets` is null if they are unknown. */
  constructor(secrets: Iterable<Secret> | null) {
    this.#isBlind = secrets === null;
    this.#forms = Array.from(new Set(secrets), formsOf);
    this.isIdle = !this.#isBlind && this.#forms.every(({ texts, numbers }) => texts.length + numbers.length === 0);
    this.#inText = new Finder(this.#forms, false);
  }

  mask(text: string): string {
    if (this.#isBlind) return text === "" ? "" : mask;
    return masked(text, this.#secretsIn(text)).replace(resumeTokens, mask);
  }

  /** Masks a text whose start was cut off, perhaps inside a secret. */
  maskTail(text: string): string {
    if (this.#isBlind) return this.mask(text);
    const rest = this.#inText.restAtStart(text, shortestSecret);
    const ranges = [...this.#secretsIn(text), ...(rest > 0 ? [[0, rest] satisfies Range] : [])];
    return masked(text, ranges).replace(resumeTokens, mask);
  }

  finds(text: string): boolean {
    return this.#isBlind || this.#inText.finds(text);
  }

  /**
   * Returns the next part to show of a growing text. `tail` is its current end in UTF-8, of which `shown` bytes were
   * shown before; with `isCut`, text precedes the tail. The last bytes wait while they may be the start of a secret.
   */
  maskGrowing(tail: Uint8Array, { shown, isCut }: { shown: number; isCut: boolean }): { text: string; shown: number } {
    if (this.#isBlind) return { text: "", shown };
    const text = Buffer.from(tail).toString("latin1");
    const finder = this.#finderInBytes();
    // Programs write whole lines, so after a line end only a longer part of a secret is held back.
    const waiting = finder.restAtEnd(text, text.endsWith("\n") ? shortestSecret : 1);
    const end = wholeCharacters(text.slice(0, text.length - waiting));
    if (end <= shown) return { text: "", shown };
    const rest = isCut ? finder.restAtStart(text, shortestSecret) : 0;
    const found = merged([...finder.rangesIn(text), ...(rest > 0 ? [[0, rest] satisfies Range] : [])]);
    const within = found.map(([from, to]): Range => [Math.max(from, shown) - shown, Math.min(to, end) - shown]);
    const masks = within.filter(([from, to]) => from < to);
    return { text: Buffer.from(masked(text.slice(shown, end), masks), "latin1").toString(), shown: end };
  }

  /** Passes bytes through. Before the end of a secret it calls `onFound` and throws `SecretFound`. */
  async *refuse(body: AsyncIterable<Uint8Array>, onFound: () => void): AsyncIterable<Uint8Array> {
    if (this.#isBlind) {
      onFound();
      throw new SecretFound("the secrets of this run cannot be read - nothing is stored");
    }
    const finder = this.#finderInBytes();
    const { longest } = finder;
    const most = Math.max(leastSearched, 4 * longest);
    let unread = "";
    const search = (isOver: boolean) => {
      if (finder.finds(unread, isOver)) {
        onFound();
        throw new SecretFound("a secret is in what was to be stored - keep it out of what the node sets");
      }
      unread = unread.slice(-longest);
    };
    for await (const chunk of body) {
      unread += Buffer.from(chunk).toString("latin1");
      if (unread.length >= most) search(false);
      yield chunk;
    }
    search(true);
  }

  #finderInBytes(): Finder {
    this.#inBytes ??= new Finder(this.#forms.map(asBytes), true);
    return this.#inBytes;
  }

  #secretsIn(text: string): Range[] {
    const ranges = this.#inText.rangesIn(text);
    let at = text.indexOf(cutMark);
    for (let cuts = 0; at >= 0 && cuts < maxCuts; cuts++) {
      const end = at + cutMark.length;
      const before = this.#inText.restAtEnd(text.slice(0, at), shortestSecret);
      const behind = this.#inText.restAtStart(text.slice(end), shortestSecret);
      if (before > 0) ranges.push([at - before, at]);
      if (behind > 0) ranges.push([end, end + behind]);
      at = text.indexOf(cutMark, end);
    }
    return ranges;
  }
}

/** The forms in UTF-8, one character per byte. */
function asBytes({ texts, numbers, raw, ...forms }: Forms): Forms {
  const bytesOf = (form: string) => Buffer.from(form).toString("latin1");
  return { ...forms, texts: [...texts.map(bytesOf), ...raw], numbers: numbers.map(bytesOf), raw };
}

/** The number of bytes before a character of UTF-8 that is cut off at the end. */
function wholeCharacters(bytes: string): number {
  const [last = ""] = /[\xc0-\xff][\x80-\xbf]{0,2}$/.exec(bytes) ?? [];
  const first = last.charCodeAt(0);
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return last !== "" && last.length < length ? bytes.length - last.length : bytes.length;
}

function masked(text: string, found: Range[]): string {
  if (found.length === 0) return text;
  let [whole, from] = ["", 0];
  for (const [start, end] of merged(found)) {
    whole += text.slice(from, start) + mask;
    from = end;
  }
  return whole + text.slice(from);
}

/** Null if the definition is unknown: then every key may be secret. */
export type SecretKeys = ReadonlySet<string> | null;

export function secretKeysOf(version: { workflow: { inputs?: unknown } } | undefined): SecretKeys {
  return version ? secretKeys(version.workflow) : null;
}

/** Masks the values of secret keys for people, in every answer that contains members of a context. */
export function shownContext(members: readonly Member[], secrets: SecretKeys): RawJson {
  return new RawJson(objectText(members.map(({ key, json }) => ({ key, json: shownValue(key, json, secrets) }))));
}

export function shownValue(key: string, json: string, secrets: SecretKeys): string {
  return secrets === null || secrets.has(key) ? JSON.stringify(mask) : json;
}

/** Shorter values, such as the `local` of an emulator, occur everywhere. */
const shortestCredential = 8;
/** Names of variables that hold credentials: `OPENAI_API_KEY`, `AWS_SESSION_TOKEN`. */
const credentialName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;
/** Values that name a key or a file instead of holding a credential. */
const noCredential = /^(?:arn:|alias\/|[~.]?\/|file:)|^\d+$/;

let known: { values: string[]; redactor: Redactor } = { values: [], redactor: new Redactor([]) };

/** The credentials in the variables of a process, including passwords in addresses. */
function credentialsIn(variables: NodeJS.ProcessEnv): string[] {
  return Object.entries(variables).flatMap(([name, value = ""]) => {
    const [, password = ""] = /^[a-z+]+:\/\/[^/@\s]*:([^/@\s]+)@/i.exec(value) ?? [];
    const isCredential = credentialName.test(name) && !/_KMS_KEY$/i.test(name) && !noCredential.test(value);
    return [password, isCredential ? value.trim() : ""].filter(({ length }) => length >= shortestCredential);
  });
}

/** Masks the credentials of this process in a message: servers repeat a key that they refuse. */
export function maskCredentials(text: string, variables: NodeJS.ProcessEnv = process.env): string {
  const values = credentialsIn(variables);
  if (values.length === 0) return text;
  if (values.length !== known.values.length || values.some((value, index) => value !== known.values[index])) {
    known = { values, redactor: new Redactor(values) };
  }
  return known.redactor.mask(text);
}
