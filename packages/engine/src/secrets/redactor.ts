import { type Member, objectText, RawJson, secretKeys } from "@nova/workflow";
import { Finder, merged, type Range } from "./finder.ts";
import { type Forms, formsOf, type Secret, shortestSecret } from "./forms.ts";

/** The text that replaces a masked secret. */
export const mask = "***";

/**
 * The mark that the harness writes where it shortens a text. The text before the mark may end inside a secret, and the
 * text after the mark may start inside a secret.
 */
export const cutMark = "[...]";
/**
 * The largest number of marks in a text at which `Redactor` searches for the rest of a secret. The harness writes at
 * most two marks in a text, so the code itself has printed any further marks.
 */
const maxCuts = 20;

/** Matches tokens of resume links, which are secret and have this prefix. */
const resumeTokens = /nova_rt_[\w-]+/g;

/** `Redactor` searches a stream each time at least this number of new bytes has arrived. */
const leastSearched = 64 * 1024;

/** Thrown if a value that NOVA was about to store contains a secret. */
export class SecretFound extends Error {
  override name = "SecretFound";
}

/**
 * Masks secrets in text for people, and finds secrets in data that NOVA is about to store. Only this class keeps secret
 * values for this purpose. It searches the forms that `formsOf` lists, so it does not find secrets that code compresses
 * or encrypts. It takes one pass over the text for any number of secrets.
 */
export class Redactor {
  readonly isIdle: boolean;
  /**
   * Whether the secrets are unknown. Then every text may be secret, so NOVA stores nothing, and people see only the
   * mask.
   */
  readonly #isBlind: boolean;
  readonly #forms: Forms[];
  readonly #inText: Finder;
  #inBytes: Finder | undefined;

  /** Pass null if the secrets are unknown. */
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

  /** Masks a text whose beginning is missing, so the text may start in the middle of a secret. */
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
   * Returns the part of a growing text that is new since the last call. `tail` is the current end of the text in UTF-8,
   * and its first `shown` bytes were returned before. With `isCut`, the text has more bytes before the tail. If the
   * last bytes may be the start of a secret, a later call returns them.
   */
  maskGrowing(tail: Uint8Array, { shown, isCut }: { shown: number; isCut: boolean }): { text: string; shown: number } {
    if (this.#isBlind) return { text: "", shown };
    const text = Buffer.from(tail).toString("latin1");
    const finder = this.#finderInBytes();
    // Secrets rarely contain a line end. So if the text ends with a line end, its last bytes wait for the next call
    // only if they match at least `shortestSecret` characters of a secret.
    const waiting = finder.restAtEnd(text, text.endsWith("\n") ? shortestSecret : 1);
    const end = wholeCharacters(text.slice(0, text.length - waiting));
    if (end <= shown) return { text: "", shown };
    const rest = isCut ? finder.restAtStart(text, shortestSecret) : 0;
    const found = merged([...finder.rangesIn(text), ...(rest > 0 ? [[0, rest] satisfies Range] : [])]);
    const within = found.map(([from, to]): Range => [Math.max(from, shown) - shown, Math.min(to, end) - shown]);
    const masks = within.filter(([from, to]) => from < to);
    return { text: Buffer.from(masked(text.slice(shown, end), masks), "latin1").toString(), shown: end };
  }

  /**
   * Yields the bytes of `body` until a secret appears. Before this function would yield the end of a secret, it calls
   * `onFound` and throws `SecretFound`.
   */
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

/** Returns the forms as bytes of UTF-8, with one character per byte. */
function asBytes({ texts, numbers, raw, ...forms }: Forms): Forms {
  const bytesOf = (form: string) => Buffer.from(form).toString("latin1");
  return { ...forms, texts: [...texts.map(bytesOf), ...raw], numbers: numbers.map(bytesOf), raw };
}

/** Returns the length of the bytes without an incomplete UTF-8 character at their end. */
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

/**
 * The top-level keys whose values are secret. Null if the definition is unknown, because every key may then be secret.
 */
export type SecretKeys = ReadonlySet<string> | null;

export function secretKeysOf(version: { workflow: { inputs?: unknown } } | undefined): SecretKeys {
  return version ? secretKeys(version.workflow) : null;
}

/** Returns members of a context with the mask in place of secret values. Every answer to people uses this function. */
export function shownContext(members: readonly Member[], secrets: SecretKeys): RawJson {
  return new RawJson(objectText(members.map(({ key, json }) => ({ key, json: shownValue(key, json, secrets) }))));
}

export function shownValue(key: string, json: string, secrets: SecretKeys): string {
  return secrets === null || secrets.has(key) ? JSON.stringify(mask) : json;
}

/**
 * The length of the shortest value that counts as a credential. Shorter values, such as the `local` of an emulator,
 * occur everywhere.
 */
const shortestCredential = 8;
/** Matches names of environment variables that contain credentials: `OPENAI_API_KEY`, `AWS_SESSION_TOKEN`. */
const credentialName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;
/** Matches values that are no credentials, but names of keys or files, or plain numbers. */
const noCredential = /^(?:arn:|alias\/|[~.]?\/|file:)|^\d+$/;

let known: { values: string[]; redactor: Redactor } = { values: [], redactor: new Redactor([]) };

/** Returns the credentials in environment variables, including passwords inside URLs. */
function credentialsIn(variables: NodeJS.ProcessEnv): string[] {
  return Object.entries(variables).flatMap(([name, value = ""]) => {
    const [, password = ""] = /^[a-z+]+:\/\/[^/@\s]*:([^/@\s]+)@/i.exec(value) ?? [];
    const isCredential = credentialName.test(name) && !/_KMS_KEY$/i.test(name) && !noCredential.test(value);
    return [password, isCredential ? value.trim() : ""].filter(({ length }) => length >= shortestCredential);
  });
}

/** Masks the credentials of this process in a message, because some servers repeat a refused key in their error. */
export function maskCredentials(text: string, variables: NodeJS.ProcessEnv = process.env): string {
  return createCredentialMask(variables)(text);
}

/**
 * Returns a function that masks the credentials of this process. Reading all environment variables is slow. So the
 * function reads them only once, at the first text that may contain a credential.
 */
export function createCredentialMask(variables: NodeJS.ProcessEnv = process.env): (text: string) => string {
  let redactor: Redactor | undefined;
  return (text) => {
    if (text.length < shortestCredential) return text;
    redactor ??= redactorOf(credentialsIn(variables));
    return redactor.isIdle ? text : redactor.mask(text);
  };
}

function redactorOf(values: string[]): Redactor {
  if (values.length !== known.values.length || values.some((value, index) => value !== known.values[index])) {
    known = { values, redactor: new Redactor(values) };
  }
  return known.redactor;
}
