import { defined } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { ItemPages } from "../chain/item-input.ts";
import type { StepText } from "../chain/steps/step-record.ts";
import { loadStored, type Row, rowsIn } from "../context/pages.ts";
import { referencesIn } from "../context/references.ts";
import type { ContentName, StepContentName, StoredContent, StoredEntry, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import type { Erasures } from "./erasures.ts";
import { type BadBlob, NamedBlobs } from "./named-blobs.ts";

/** A fault of a link. `key` and `blob` are set if the fault is in a blob that the entry names. */
export type LinkProblem = Omit<BadBlob, "blob"> & { blob?: string };

/** A content that was erased on request, with its place. */
export interface Erased extends LinkPlace {
  content: ContentName | StepContentName | "text";
  /** Set for a content of a step. */
  step?: number;
}

/** The place of a link: its number, its `scope` in a branch, and its `execution` if a node ran that execution. */
export interface LinkPlace {
  seq: number;
  scope?: string;
  execution?: string;
}

export function placeOf({ seq, scope, execution_id: execution }: LinkOf, walked: string): LinkPlace {
  return { seq, ...(scope !== "" && { scope }), ...(execution !== walked && { execution }) };
}

type LinkOf = Pick<Head, "seq" | "scope" | "execution_id">;

type Contents = Partial<Record<ContentName | StepContentName, StoredContent>>;

/** Checks the contents of entries against their digests, and every blob that contents name against its hash. */
export class ContentCheck {
  /** Contents that are missing because they were erased on request. */
  readonly erased: Erased[] = [];
  readonly blobs: NamedBlobs;
  readonly #walked: string;
  readonly #erasures: Erasures;

  /** `walked` is the execution under check, not an execution that one of its nodes ran. */
  constructor(ports: Ports, walked: string, erasures: Erasures) {
    this.#walked = walked;
    this.#erasures = erasures;
    this.blobs = new NamedBlobs(ports.blobs);
  }

  problemOf(head: Head, { contents }: StoredEntry): Promise<LinkProblem | undefined> {
    return this.#problemIn(head, contents, head.digests);
  }

  /** Checks the contents of a step that an entry lists and whose text is sound. */
  async stepProblem(head: Head, { step, text, contents = {} }: StoredStep): Promise<LinkProblem | undefined> {
    if (text === "") return this.#goneProblem(head, `the text of its step ${step}`, { step, content: "text" });
    return this.#problemIn(head, contents, (JSON.parse(text) as Partial<StepText>).digests ?? {}, step);
  }

  /** Checks the contents of an entry, or of one of its steps. */
  async #problemIn(
    head: Head,
    contents: Contents,
    digests: Partial<Record<keyof Contents, string>>,
    step?: number,
  ): Promise<LinkProblem | undefined> {
    const title = (name: string) => (step === undefined ? `its ${name}` : `the ${name} of its step ${step}`);
    const vouches = step === undefined ? "its head" : "the step";
    const added = Object.keys(contents).find((name) => !Object.hasOwn(digests, name));
    if (added !== undefined) return { message: `${title(added)} was added: ${vouches} has no digest of it` };
    for (const [name, digest] of Object.entries(digests) as [keyof Contents, string][]) {
      const content = contents[name];
      const problem = content
        ? await this.#contentProblem(head, title(name), digest, content, step === undefined ? name : undefined)
        : await this.#goneProblem(head, title(name), { ...defined({ step }), content: name });
      if (problem) return problem;
    }
    return undefined;
  }

  /**
   * Records a content that an erasure removed. A content that is missing without an erasure is a problem: it was
   * removed by direct access to the table.
   */
  async #goneProblem(head: Head, title: string, gone: Omit<Erased, "seq">): Promise<LinkProblem | undefined> {
    if (!(await this.#erasures.has(head.execution_id)))
      return { message: `${title} is gone, and no signed note says that it was erased: it was taken away` };
    this.erased.push({ ...placeOf(head, this.#walked), ...gone });
    return undefined;
  }

  /** Checks one content. `name` is set for contents of the entry itself; two of these name further blobs. */
  async #contentProblem(
    head: Head,
    place: string,
    digest: string,
    content: StoredContent,
    name: keyof Contents | undefined,
  ): Promise<LinkProblem | undefined> {
    const isStructure = name === "context" || name === "items";
    const found = "text" in content ? sha256(content.text) : content.blob.sha256;
    if (found !== digest)
      return { message: `${place} was changed: the digest ${isStructure ? "in its head" : "beside it"} is another` };
    const blob = "blob" in content ? { place, ref: { sha256: digest }, bytes: content.blob.bytes } : undefined;
    if (!isStructure) return blob && this.blobs.firstBad(head, [blob]);
    const stored = blob ? await this.blobs.text(head, blob) : (content as { text: string });
    if ("bad" in stored) return stored.bad;
    if (stored.text === null) return undefined;
    return name === "items" ? this.#itemsProblem(head, stored.text) : this.#contextProblem(head, stored.text);
  }

  async #contextProblem(head: Head, text: string): Promise<LinkProblem | undefined> {
    const { pages, inline } = loadStored(text);
    for (const { sha256 } of pages) {
      const page = await this.blobs.text(head, { place: "a page of its context", ref: { sha256 } });
      if ("bad" in page) return page.bad;
      const bad = page.text === null ? undefined : await this.#rowProblem(head, rowsIn(page.text));
      if (bad) return bad;
    }
    return this.#rowProblem(head, inline);
  }

  #itemsProblem(head: Head, text: string): Promise<BadBlob | undefined> {
    const { pages } = JSON.parse(text) as ItemPages;
    const named = pages.map(({ sha256 }) => ({ place: "a page of its items", ref: { sha256, type: "json" as const } }));
    return this.blobs.firstBad(head, named);
  }

  #rowProblem(head: Head, rows: readonly Row[]): Promise<BadBlob | undefined> {
    const named = rows.flatMap(([key, , json]) =>
      referencesIn(json).map((ref) => ({ place: `context[${JSON.stringify(key)}]`, key, ref })),
    );
    return this.blobs.firstBad(head, named);
  }
}
