import { reachableFrom } from "../graph/graph.ts";
import { objectOf } from "../json/exact.ts";
import { isObject, type JsonObject } from "../json/value.ts";
import type { Trigger, TriggerType } from "../trigger.ts";
import type { Node, Workflow } from "../workflow.ts";
import type { NodeNames } from "./node-names.ts";
import type { NamedNode, Outline } from "./outline.ts";

export interface NearKey {
  /** Absent: no key is near. */
  near?: string;
  /** The key is a slip of the pen for the near one, and makes no other word. */
  isSlip: boolean;
}

/** A key that code cannot do without and nobody has set. Places from 1; columns count UTF-16 units. */
export interface MissingKey extends NearKey {
  key: string;
  line: number;
  column: number;
}

export interface NamedId {
  id: string;
  line: number;
  column: number;
}

/** What a reader of Python says of a node's code. */
export interface CodeKeys {
  /** Where each is first set, and whether every run that succeeds sets it. */
  sets: ReadonlyMap<string, { line: number; column: number; always: boolean }>;
  setsMore: boolean;
  reads: ReadonlySet<string>;
  /** Whether it reads the key, or may. */
  mayRead(key: string): boolean;
  deletes: ReadonlySet<string>;
  /** Ids of the waits whose links it reads in `tasks`. */
  waits: readonly NamedId[];
  /** Ids of the nodes whose results it reads in `outputs`. */
  results: readonly NamedId[];
  /** Where it first asks for what all nodes have set as one dict. */
  flattens?: { line: number; column: number };
  missing(known: readonly string[]): MissingKey[];
}

/** @nova/python, for a check that has to know what code does; this package reads no Python. */
export interface KeyReader {
  /** Null where nothing can be said of the code. */
  readCodeKeys(code: string): CodeKeys | null;
  findNearKey(wrong: string, keys: readonly string[]): NearKey;
}

export interface NameableWaits {
  /** Every wait for an event. */
  all: string[];
  /** Those that the code of a node can name: of its branch, and of those around it. */
  at(node: string): ReadonlySet<string>;
}

/** A node whose keys are asked about, and what the answers are found with. */
export interface AskedNode {
  node: NamedNode;
  outline: Outline;
  workflow: Workflow;
  before: KeysBefore;
  waits: NameableWaits;
  names: NodeNames;
  reader: KeyReader;
}

/** Keys that are in the context before the first node runs. */
interface GivenKeys {
  keys: ReadonlySet<string>;
  /** There may be others: nothing is declared, or others are welcome. */
  isOpen: boolean;
}

/** What NOVA puts there itself, in some nodes. */
const fromNova = ["branch_decision", "error", "tasks", "_data_analysis", "_ai_metadata"];

const mail = ["email", "email_from", "email_subject", "email_body", "email_attachments"];
const fromTriggers: Record<TriggerType, readonly string[]> = {
  ...{ mail, imap: mail, webhook: ["webhook"], schedule: ["schedule"], event: ["event"] },
};

export function givenKeys({ inputs: written, triggers = [] }: Workflow): GivenKeys {
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

/** Keys that `properties` does not name are spoken of; merely not to forbid them is not to expect them. */
function isOpenSchema(inputs: JsonObject = {}): boolean {
  const { additionalProperties: more = false } = inputs;
  const others = ["patternProperties", "propertyNames", "unevaluatedProperties", "dependentSchemas", "dependencies"];
  const composed = ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"];
  return more !== false || [...others, ...composed].some((word) => Object.hasOwn(inputs, word));
}

/** Which keys may be in the context when a node of a body begins. */
export class KeysBefore {
  readonly #outline: Outline;
  readonly #given: GivenKeys;
  /** Of a map's body: of the nodes around the map. */
  readonly #around: KeysBefore | undefined;
  readonly #setters = new Map<string, string[]>();
  /** Nodes that may set keys of which nobody knows. */
  readonly #open: string[] = [];
  readonly #behind = new Map<string, ReadonlySet<string>>();

  constructor(outline: Outline, reader: KeyReader, given: GivenKeys, around?: KeysBefore) {
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

  /** Whether some way leads from the other node to the node, or to the map that it is in. */
  mayRunBefore(other: string, id: string): boolean {
    const map = this.#outline.map?.id ?? "";
    return this.#isBehind(`node ${other}`, [other], id) || this.#around?.mayRunBefore(other, map) === true;
  }

  /** Whether some way leads from one of these nodes to the node, itself among them where a loop does. */
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

/** Names that the node itself gives to what others have brought. */
function boundIn({ byId }: Outline, id: string): string[] {
  const node = byId.get(id)?.node;
  return node && "inputKeys" in node ? Object.keys(node.inputKeys ?? {}) : [];
}

/** Null where it may set keys of which nobody knows. */
function keysSetBy({ node, python }: NamedNode, reader: KeyReader): Iterable<string> | null {
  const own = keysOfNode(node);
  if (own) return own;
  const code = python && reader.readCodeKeys(python.code);
  return !code || code.setsMore ? null : code.sets.keys();
}

/** The keys that a node sets by itself; undefined where its code says it. */
export function keysOfNode(node: Node | undefined): string[] | undefined {
  switch (node?.type) {
    case "start":
    case "end":
      return [];
    case "map":
    case "approval":
      return [node.into];
    case "wait":
      return node.for.kind === "event" ? [node.for.into] : [];
    case "workflow":
      return Object.keys(node.output);
    default:
      return node?.executor.kind === "text" ? [node.executor.into] : undefined;
  }
}
