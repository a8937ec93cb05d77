import { reachableFrom } from "../graph/graph.ts";
import { isObject, type JsonObject, objectOf } from "../json/exact.ts";
import type { LineColumn } from "../json/scan.ts";
import type { Node, Trigger, TriggerType, Workflow } from "../workflow.ts";
import type { NamedNode, NodeNames, Outline } from "./outline.ts";

export interface NearKey {
  near?: string;
  /**
   * True if the key is a typing mistake for `near`. False if the key is a different word that only resembles `near`.
   */
  isSlip: boolean;
}

/** A key that the code requires and that no earlier node sets. */
export type MissingKey = NearKey & LineColumn & { key: string };

export type NamedId = LineColumn & { id: string };

export interface CodeKeys {
  /** Maps each key to the first position that sets it. `always`: every successful run of the code sets it. */
  sets: ReadonlyMap<string, LineColumn & { always: boolean }>;
  setsMore: boolean;
  reads: ReadonlySet<string>;
  /** Returns true if the code reads the key or may read it. */
  mayRead(key: string): boolean;
  deletes: ReadonlySet<string>;
  /** Ids of the waits whose resume links the code reads in `tasks`. */
  waits: readonly NamedId[];
  /** Ids of the nodes whose results the code reads in `outputs`. */
  results: readonly NamedId[];
  /** The first position at which the code asks for all results as one dict. */
  flattens?: LineColumn;
  missing(known: readonly string[]): MissingKey[];
}

/** Reads the keys in Python code. @nova/python implements it, because this package reads no Python. */
export interface KeyReader {
  readCodeKeys(code: string): CodeKeys | null;
  findNearKey(wrong: string, keys: readonly string[]): NearKey;
}

export interface NameableWaits {
  all: string[];
  /** Returns the waits that the code of a node can name: those in its branch and in the branches around it. */
  at(node: string): ReadonlySet<string>;
}

export interface NodeCheck {
  node: NamedNode;
  outline: Outline;
  workflow: Workflow;
  before: KeysBefore;
  waits: NameableWaits;
  names: NodeNames;
  reader: KeyReader;
}

interface InitialKeys {
  keys: ReadonlySet<string>;
  isOpen: boolean;
}

/** Keys that NOVA itself sets for some nodes. */
const fromNova = ["branch_decision", "error", "tasks", "_data_analysis", "_ai_metadata"];

const mail = ["email", "email_from", "email_subject", "email_body", "email_attachments"];
const fromTriggers: Record<TriggerType, readonly string[]> = {
  mail,
  imap: mail,
  webhook: ["webhook"],
  schedule: ["schedule"],
  event: ["event"],
};

export function initialKeys({ inputs: written, triggers = [] }: Workflow): InitialKeys {
  const inputs = written === undefined ? undefined : objectOf(written);
  const declared = isObject(inputs?.properties) ? Object.keys(inputs.properties) : [];
  const keys = [...fromNova, ...declared, ...requiredIn(inputs), ...triggers.flatMap(keysFrom)];
  return { keys: new Set(keys), isOpen: declared.length === 0 || isOpenSchema(inputs) };
}

function requiredIn(inputs: JsonObject | undefined): string[] {
  return Array.isArray(inputs?.required) ? inputs.required.filter((key) => typeof key === "string") : [];
}

function keysFrom(trigger: Trigger): string[] {
  const own = trigger.type === "schedule" ? Object.keys(objectOf(trigger.context ?? {})) : [];
  return [...fromTriggers[trigger.type], ...own];
}

/**
 * Returns true if the schema describes keys other than those in `properties`. A schema without a rule for other keys is
 * not open.
 */
function isOpenSchema(inputs: JsonObject = {}): boolean {
  const { additionalProperties: more = false } = inputs;
  const others = ["patternProperties", "propertyNames", "unevaluatedProperties", "dependentSchemas", "dependencies"];
  const composed = ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"];
  return more !== false || [...others, ...composed].some((word) => Object.hasOwn(inputs, word));
}

export class KeysBefore {
  readonly #outline: Outline;
  readonly #given: InitialKeys;
  readonly #around: KeysBefore | undefined;
  readonly #setters = new Map<string, string[]>();
  readonly #open: string[] = [];
  readonly #behind = new Map<string, ReadonlySet<string>>();

  constructor(outline: Outline, reader: KeyReader, given: InitialKeys, around?: KeysBefore) {
    this.#around = around;
    this.#outline = outline;
    this.#given = given;
    for (const node of outline.nodes) {
      const sets = keysSetBy(node, reader);
      if (sets === null) this.#open.push(node.id);
      for (const key of sets ?? []) this.#setters.set(key, [...(this.#setters.get(key) ?? []), node.id]);
    }
  }

  has(key: string, id: string): boolean {
    return (
      this.#given.keys.has(key) ||
      boundIn(this.#outline, id).includes(key) ||
      this.#isBehind(`key ${key}`, this.settersOf(key), id)
    );
  }

  isOpenAt(id: string): boolean {
    return this.#given.isOpen || this.#isBehind("open", this.#open, id);
  }

  at(id: string): string[] {
    const bound = boundIn(this.#outline, id);
    return [...this.#given.keys, ...bound, ...[...this.#setters.keys()].filter((key) => this.has(key, id))];
  }

  settersOf(key: string): readonly string[] {
    return this.#setters.get(key) ?? [];
  }

  /** Returns true if edges lead from the node `other` to the node `id`, or to the map that contains `id`. */
  mayRunBefore(other: string, id: string): boolean {
    const map = this.#outline.map?.id ?? "";
    return this.#isBehind(`node ${other}`, [other], id) || this.#around?.mayRunBefore(other, map) === true;
  }

  /**
   * Returns true if edges lead from one of the nodes `ids` to the node `id`. A loop may lead from a node to itself.
   * `name` is the key under which the answer is cached.
   */
  #isBehind(name: string, ids: readonly string[], id: string): boolean {
    if (ids.length === 0) return false;
    const known = this.#behind.get(name);
    if (known) return known.has(id);
    const next = ids.flatMap((each) => this.#outline.graph.successors.get(each) ?? []);
    const behind = reachableFrom(this.#outline.graph, next);
    this.#behind.set(name, behind);
    return behind.has(id);
  }
}

function boundIn({ byId }: Outline, id: string): string[] {
  const node = byId.get(id)?.node;
  return node && "inputKeys" in node ? Object.keys(node.inputKeys ?? {}) : [];
}

/** Returns the keys that a node sets, itself or by its code; null if the code may set other keys. */
function keysSetBy({ node, python }: NamedNode, reader: KeyReader): Iterable<string> | null {
  const own = keysOfNode(node);
  if (own) return own;
  const code = python && reader.readCodeKeys(python.code);
  return !code || code.setsMore ? null : code.sets.keys();
}

/** Returns the keys that a node sets without code; undefined if the code of the node decides which keys it sets. */
export function keysOfNode(node: Node | undefined): string[] | undefined {
  if (node?.type === "start" || node?.type === "end") return [];
  if (node?.type === "map" || node?.type === "approval") return [node.into];
  if (node?.type === "wait") return node.for.kind === "event" ? [node.for.into] : [];
  if (node?.type === "workflow") return Object.keys(node.output);
  return node?.executor.kind === "text" ? [node.executor.into] : undefined;
}
