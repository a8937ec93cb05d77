import { parsedOrNot } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { headOf } from "../chain/entry.ts";
import { contextAfter } from "../chain/position.ts";
import type { Row, StoredContext } from "../context/context.ts";
import { ReferenceScan } from "../context/references.ts";
import { recoverFrom, StoreUnavailable } from "../errors.ts";
import type { BlobHome, BlobRef, BlobStore } from "../ports/blobs.ts";
import type { StoredContent, StoredEntry } from "../ports/chain.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { Redactor, SecretFound, type SecretKeys, secretKeysOf } from "../secrets/redactor.ts";
import { redactorFor } from "../secrets/secret-inputs.ts";

/** The largest content or blob in a proof file, in bytes. */
export const largestInProof = 1024 * 1024;

type Why = "secret" | "erased" | "size";

/** The secrets of one run: the keys of its secret inputs, and a redactor that finds their values. */
export interface RunSecrets {
  keys: SecretKeys;
  redactor: Redactor;
}

/**
 * Returns the secrets of a run. `first` is its entry 0. Without the definition of the run, every key may be secret. In
 * texts that are no values of keys, NOVA has masked the secrets before it stored the texts.
 */
export async function secretsOfRun(blobs: BlobStore, version: WorkflowVersion | undefined, first: StoredEntry) {
  const keys = secretKeysOf(version);
  if (keys === null || keys.size === 0 || !first.contents.context) return { keys, redactor: new Redactor([]) };
  const loaded = await contextAfter(first, blobs).catch(recoverFrom(unreadable, () => null));
  if (loaded === null) return { keys, redactor: new Redactor(null) };
  const home = headOf(first);
  return { keys, redactor: await redactorFor(keys, loaded.context, (sha256) => blobs.get(home, sha256)) };
}

/** Names of the errors that NOVA throws for a changed or erased content. Any other error is an outage. */
const unreadable = ["BlobMissing", "BlobMismatch", "SyntaxError", "TypeError"];

type Found = { text: string } | { blob: true } | { withheld: Why };

/**
 * Builds the contents of a proof file. It withholds contents with the value of a secret input, erased contents, and
 * contents that are too large. It remembers the hashes of the blobs that the shown contents name, and writes these
 * blobs at the end of the file. After it has checked a blob, it keeps no bytes of the blob in memory.
 */
export class ProofContents {
  readonly #blobs: BlobStore;
  readonly #home: BlobHome;
  /** The blobs to write, by hash. */
  readonly #wanted = new Map<string, Wanted>();
  /** The blobs that are values of secret inputs, or pages with such values. */
  readonly #secret = new Set<string>();
  /** The results of the checks of contents in blobs, by name and hash. */
  readonly #checked = new Map<string, Promise<Found>>();
  /** The results of the checks of pages of contexts, by hash. */
  readonly #pages = new Map<string, Promise<void>>();
  #redactor = new Redactor([]);

  /** `ProofContents` reads all blobs from `home`, even if a changed entry names another home. */
  constructor(blobs: BlobStore, home: BlobHome) {
    this.#blobs = blobs;
    this.#home = home;
  }

  /** Makes `blobs` withhold blobs at the end of the file that contain secrets of this run. */
  searchBlobsFor({ redactor }: RunSecrets): void {
    this.#redactor = redactor;
  }

  /** Returns the contents of an entry or a step as the JSON text of an object, with one field for each digest. */
  async textOf(
    contents: Partial<Record<string, StoredContent>>,
    digests: Partial<Record<string, string>> | undefined,
    secrets: RunSecrets,
  ): Promise<string> {
    const found = await atOnce(Object.entries(digests ?? {}), async ([name, digest]): Promise<[string, Found]> => {
      const content = contents[name];
      if (!content) return [name, { withheld: "erased" }];
      if ("blob" in content) return [name, await this.#blobContent(name, String(digest), content.blob.sha256, secrets)];
      return [name, (await this.#isShown(name, content.text, secrets)) ? content : { withheld: "secret" }];
    });
    return JSON.stringify(Object.fromEntries(found));
  }

  #blobContent(name: string, digest: string, sha256: string, secrets: RunSecrets): Promise<Found> {
    // A person has changed the reference. The file has no bytes under the digest, so the file does not verify.
    if (sha256 !== digest) return Promise.resolve({ blob: true });
    const key = `${name} ${digest}`;
    const found = this.#checked.get(key) ?? this.#checkBlobContent(name, digest, secrets);
    this.#checked.set(key, found);
    return found;
  }

  async #checkBlobContent(name: string, digest: string, secrets: RunSecrets): Promise<Found> {
    const bytes = await this.#read(digest);
    if (bytes === null) return { withheld: "erased" };
    if (!(await this.#isShown(name, bytes.toString(), secrets))) return { withheld: "secret" };
    if (bytes.length > largestInProof) return { withheld: "size" };
    this.#want(digest, { isPromised: true });
    return { blob: true };
  }

  /**
   * Returns whether the file may show a content. Remembers the blobs that a shown content names, and the blobs that are
   * secret.
   */
  async #isShown(name: string, text: string, secrets: RunSecrets): Promise<boolean> {
    if (name === "context") return this.#isContextShown(text, secrets);
    if (secrets.keys === null && valueNames.has(name)) return false;
    if (secrets.redactor.finds(text)) return false;
    if (name === "items") {
      const stored = parsedOrNot(text);
      for (const sha256 of pagesIn(stored)) this.#want(sha256, { isJson: true });
      for (const json of inlineItemsIn(stored)) this.#wantNamed(Buffer.from(json));
    } else if (valueNames.has(name)) this.#wantNamed(Buffer.from(text));
    return true;
  }

  async #isContextShown(text: string, { keys, redactor }: RunSecrets): Promise<boolean> {
    const stored = parsedOrNot(text);
    const [pages, inline] = [pagesIn(stored), rowsOf((stored as Partial<StoredContext> | null | undefined)?.inline)];
    await atOnce(pages, (sha256) => this.#checkPage(sha256, keys));
    const isSecret = await this.#hideValues(inline, keys);
    if (isSecret || keys === null || redactor.finds(text)) return false;
    for (const sha256 of pages) this.#want(sha256, { isPage: true });
    this.#wantValues(inline);
    return true;
  }

  /** Marks a page of a context as secret if it has the value of a secret input. */
  #checkPage(sha256: string, keys: SecretKeys): Promise<void> {
    const check = async () => {
      const bytes = keys && keys.size > 0 ? await this.#read(sha256) : null;
      if (bytes && (await this.#hideValues(rowsOf(parsedOrNot(bytes.toString())), keys))) this.#secret.add(sha256);
    };
    const checked = this.#pages.get(sha256) ?? check();
    this.#pages.set(sha256, checked);
    return checked;
  }

  /** Returns whether a row has a secret key. Marks the blobs in the values of such rows as secret. */
  async #hideValues(rows: readonly Row[], keys: SecretKeys): Promise<boolean> {
    const secret = rows.filter(([key]) => keys?.has(key));
    for (const [, , json] of secret) for (const ref of namedIn(Buffer.from(json))) await this.#hide(ref);
    return secret.length > 0;
  }

  /** Marks a blob as secret, and each blob that it names. */
  async #hide({ sha256, type }: BlobRef): Promise<void> {
    if (this.#secret.has(sha256)) return;
    this.#secret.add(sha256);
    if (type !== "json") return;
    const scan = new ReferenceScan();
    await readChunks(this.#blobs, this.#home, sha256, (chunk) => scan.look(chunk));
    for (const inside of scan.found) await this.#hide(inside);
  }

  #wantValues(rows: readonly Row[]): void {
    for (const [, , json] of rows) this.#wantNamed(Buffer.from(json));
  }

  #wantNamed(bytes: Buffer): void {
    for (const { sha256, type } of namedIn(bytes)) this.#want(sha256, type === "json" ? { isJson: true } : {});
  }

  #want(sha256: string, wanted: Wanted): void {
    this.#wanted.set(sha256, Object.assign(this.#wanted.get(sha256) ?? {}, wanted));
  }

  /**
   * Reads a whole blob; returns null if it was erased. If a person has changed the bytes of the blob, the file does not
   * verify.
   */
  async #read(sha256: string): Promise<Buffer | null> {
    const chunks: Uint8Array[] = [];
    const isThere = await readChunks(this.#blobs, this.#home, sha256, (chunk) => void chunks.push(chunk));
    return isThere ? Buffer.concat(chunks) : null;
  }

  /**
   * Yields the members of `blobs`: for each wanted blob the bytes in base64, or the reason why the file withholds them.
   */
  async *blobs(): AsyncGenerator<string> {
    // If a blob names further blobs, `#blobOf` adds these to the map, and the loop reaches them.
    for (const [sha256, wanted] of this.#wanted) {
      const found = await this.#blobOf(sha256, wanted);
      if (typeof found === "string" && wanted.isPromised)
        throw new StoreUnavailable("contents of the run were erased while its proof was made - ask again");
      const shown = typeof found === "string" ? { withheld: found } : found.toString("base64");
      yield `${JSON.stringify(sha256)}:${JSON.stringify(shown)}`;
    }
  }

  async #blobOf(sha256: string, { isJson, isPage }: Wanted): Promise<Buffer | Why> {
    if (this.#secret.has(sha256)) return "secret";
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const isThere = await readChunks(this.#blobs, this.#home, sha256, (chunk) => {
      bytes += chunk.length;
      return bytes <= largestInProof && chunks.push(chunk) > 0;
    });
    if (!isThere) return "erased";
    if (bytes > largestInProof) return "size";
    const whole = Buffer.concat(chunks);
    if (await hasSecret(this.#redactor, whole)) return "secret";
    if (isJson) this.#wantNamed(whole);
    if (isPage) this.#wantValues(rowsOf(parsedOrNot(whole.toString())));
    return whole;
  }
}

interface Wanted {
  /** The blob is JSON, which may name further blobs. */
  isJson?: boolean;
  /** The blob is a page of a context: its values may name further blobs. */
  isPage?: true;
  /** A content in the file says that the file also has the bytes of this blob. */
  isPromised?: true;
}

/** Names of the contents that have values of a context. Such values may be references to blobs. */
const valueNames: ReadonlySet<string> = new Set(["items", "result", "analysis", "vote"]);

// A person with access to the table may have changed a text, so the functions below check the form of a text before
// they use it.

function rowsOf(stored: unknown): Row[] {
  return Array.isArray(stored) ? stored.filter((row) => Array.isArray(row) && typeof row[2] === "string") : [];
}

/** Returns the hashes of the pages that a context or the items of a map name. */
function pagesIn(stored: unknown): string[] {
  const { pages } = (stored ?? {}) as { pages?: unknown };
  if (!Array.isArray(pages)) return [];
  return pages.map((page) => page?.sha256).filter((sha256) => typeof sha256 === "string");
}

function inlineItemsIn(stored: unknown): string[] {
  const { inline } = (stored ?? {}) as { inline?: unknown };
  return Array.isArray(inline) ? inline.filter((item) => typeof item === "string") : [];
}

function namedIn(bytes: Uint8Array): BlobRef[] {
  const scan = new ReferenceScan();
  scan.look(bytes);
  return scan.found;
}

async function hasSecret(redactor: Redactor, bytes: Uint8Array): Promise<boolean> {
  if (redactor.isIdle) return false;
  const reading = Array.fromAsync(redactor.refuse(streamOf(bytes), () => undefined));
  return reading.then(
    () => false,
    recoverFrom(SecretFound, () => true),
  );
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * Passes the bytes of a blob to `look` until `look` returns false. Returns false if the blob was erased. Passes changed
 * bytes on without an error.
 */
async function readChunks(blobs: BlobStore, home: BlobHome, sha256: string, look: (chunk: Uint8Array) => unknown) {
  const read = async () => {
    for await (const chunk of await blobs.stream(home, sha256)) if (look(chunk) === false) break;
    return true;
  };
  return read().catch(recoverFrom(["BlobMissing", "BlobMismatch"], ({ name }) => name === "BlobMismatch"));
}
