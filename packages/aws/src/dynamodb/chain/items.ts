import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Link, LinkId, StoredContent, StoredEntry, StoredStep, Turn } from "@nova/engine";
import { checkFormat, FORMAT } from "../format.ts";
import {
  chainPartition,
  ENTRY,
  type Item,
  type LinkKind,
  linkKey,
  numberIn,
  numberValue,
  partitionKey,
  stepKey,
  TURN,
  textIn,
  textValue,
} from "./attributes.ts";

/** ElectroDB's marks of ownership, which the other records of the table bear too. */
const ownership = { __edb_e__: textValue("link"), __edb_v__: textValue("1") };

export function turnItem(at: LinkId, turn: Turn): Item {
  const { node, state, sandbox, attempt, since, due, failedDeliveries, generation, kept, addresses } = turn;
  return {
    ...placeOf(at, TURN),
    node: textValue(node),
    state: textValue(state),
    ...(sandbox !== null && { sandbox: textValue(sandbox) }),
    attempt: numberValue(attempt),
    since: textValue(since),
    ...(due !== undefined && { due: textValue(due) }),
    ...(failedDeliveries !== undefined && { failed_deliveries: numberValue(failedDeliveries) }),
    ...(generation !== undefined && { generation: textValue(generation) }),
    ...(kept && { kept: textValue(kept.join()) }),
    ...(addresses && { addresses: textValue(JSON.stringify(addresses)) }),
  };
}

export function entryItem(at: LinkId, { head, hash, contents, signature }: StoredEntry): Item {
  return {
    ...placeOf(at, ENTRY),
    head: textValue(head),
    hash: textValue(hash),
    contents: contentsValue(contents),
    ...(signature !== undefined && { signature: textValue(signature) }),
  };
}

function placeOf({ execution, scope, seq }: LinkId, kind: LinkKind): Item {
  const partition = chainPartition(execution, scope);
  return {
    pk: textValue(partitionKey(partition)),
    sk: textValue(linkKey(scope, seq, kind)),
    partition: textValue(partition),
    scope: textValue(scope),
    seq: numberValue(seq),
    kind: textValue(kind),
    format: numberValue(FORMAT),
    ...ownership,
  };
}

/** An item's own link, which its attributes name as its keys do: one that was copied elsewhere is no link of that place. */
export function linkOf(item: Item): { partition: string; scope: string; seq: number } {
  const place = placeIn(item);
  const kind = textIn(item, "kind");
  const isHere = (kind === TURN || kind === ENTRY) && textIn(item, "sk") === linkKey(place.scope, place.seq, kind);
  if (isHere) return place;
  throw misplaced(item);
}

/** What the attributes of a chain item say of its place, its sort key aside. */
function placeIn(item: Item): { partition: string; scope: string; seq: number } {
  const [partition, scope, seq] = [textIn(item, "partition"), textIn(item, "scope"), numberIn(item, "seq")];
  if (partition === undefined || scope === undefined || seq === undefined)
    throw new DamagedLink(`the item "${textIn(item, "sk")}" of "${textIn(item, "pk")}" lacks its place - ${byHand}`);
  if (textIn(item, "pk") !== partitionKey(partition)) throw misplaced(item);
  return { partition, scope, seq };
}

function misplaced(item: Item): DamagedLink {
  const place = `"${textIn(item, "sk")}" of "${textIn(item, "pk")}"`;
  return new DamagedLink(`the item ${place} says that it belongs to another place - ${byHand}`);
}

/** Puts items that arrive in key order, or in its reverse, together into links. */
export function linksOf(items: Item[]): ({ scope: string } & Link)[] {
  const links: ({ scope: string } & Link)[] = [];
  for (const item of items) {
    const { scope, seq } = linkOf(item);
    const last = links.at(-1);
    const link = last?.scope === scope && last.seq === seq ? last : { scope, seq };
    if (link !== last) links.push(link);
    if (textIn(item, "kind") === TURN) link.turn = turnOf(item);
    else link.entry = entryOf(item);
  }
  return links;
}

function turnOf(item: Item): Turn {
  checkFormat(nameOf("turn", item), numberIn(item, "format"));
  const [node, state, since] = [textIn(item, "node"), textIn(item, "state"), textIn(item, "since")];
  const [attempt, failedDeliveries] = [numberIn(item, "attempt"), numberIn(item, "failed_deliveries")];
  if (!node || !isState(state) || attempt === undefined || !since) throw damaged("turn", item);
  const [due, generation, kept, addresses] = ["due", "generation", "kept", "addresses"].map((name) =>
    textIn(item, name),
  );
  return {
    ...{ node, state, attempt, since, sandbox: textIn(item, "sandbox") ?? null },
    ...(due !== undefined && { due }),
    ...(failedDeliveries !== undefined && { failedDeliveries }),
    ...(generation !== undefined && { generation }),
    ...(kept !== undefined && { kept: kept.split(",").map(Number) }),
    ...(addresses !== undefined && { addresses: JSON.parse(addresses) as Record<string, string[]> }),
  };
}

function isState(state: string | undefined): state is Turn["state"] {
  return state === "held" || state === "failing" || state === "closed";
}

function entryOf(item: Item): StoredEntry {
  checkFormat(nameOf("entry", item), numberIn(item, "format"));
  const [head, hash, signature] = [textIn(item, "head"), textIn(item, "hash"), textIn(item, "signature")];
  if (head === undefined || hash === undefined) throw damaged("entry", item);
  return { head, hash, contents: contentsOf(item.contents), ...(signature !== undefined && { signature }) };
}

/** A chain item lacks what every item of its kind has. */
export class DamagedLink extends Error {
  override name = "DamagedLink";
}

const byHand = "the table was edited by hand";

function damaged(kind: "turn" | "entry", item: Item): DamagedLink {
  return new DamagedLink(`${nameOf(kind, item)} lacks fields - ${byHand}`);
}

function nameOf(kind: "turn" | "entry", item: Item): string {
  const { partition, scope, seq } = linkOf(item);
  return `the ${kind} at link ${seq} of ${partition}${scope}`;
}

/** One agent run of a node, in the partition of its link. */
export function stepItem({ execution, scope, seq }: LinkId, { step, text, hash, contents }: StoredStep): Item {
  const partition = chainPartition(execution, scope);
  return {
    pk: textValue(partitionKey(partition)),
    sk: textValue(stepKey(scope, seq, step)),
    partition: textValue(partition),
    scope: textValue(scope),
    seq: numberValue(seq),
    step: numberValue(step),
    format: numberValue(FORMAT),
    text: textValue(text),
    hash: textValue(hash),
    ...(contents && { contents: contentsValue(contents) }),
    __edb_e__: textValue("step"),
    __edb_v__: textValue("1"),
  };
}

export function stepOf(at: LinkId, item: Item): StoredStep {
  const step = numberIn(item, "step") ?? 0;
  const { scope, seq } = placeIn(item);
  if (textIn(item, "sk") !== stepKey(scope, seq, step)) throw misplaced(item);
  checkFormat(`step ${step} of link ${at.seq} of ${at.execution}`, numberIn(item, "format"));
  return {
    step,
    text: textIn(item, "text") ?? "",
    hash: textIn(item, "hash") ?? "",
    ...(item.contents && { contents: contentsOf(item.contents) }),
  };
}

type Contents<Name extends string> = Partial<Record<Name, StoredContent>>;

/** A map of maps: each content is `{text}` or `{blob: {sha256, bytes}}`. */
function contentsValue<Name extends string>(contents: Contents<Name>): AttributeValue {
  const values: Item = {};
  for (const [name, content] of Object.entries<StoredContent | undefined>(contents)) {
    if (content) values[name] = { M: contentValue(content) };
  }
  return { M: values };
}

function contentValue(content: StoredContent): Item {
  if ("text" in content) return { text: textValue(content.text) };
  const { sha256, bytes } = content.blob;
  return { blob: { M: { sha256: textValue(sha256), bytes: numberValue(bytes) } } };
}

/** Contents that were erased are not there. */
function contentsOf<Name extends string>(value: AttributeValue | undefined): Contents<Name> {
  const contents: Contents<Name> = {};
  for (const [name, { M: content }] of Object.entries(value?.M ?? {})) {
    if (content) contents[name as Name] = contentOf(content);
  }
  return contents;
}

function contentOf(content: Item): StoredContent {
  const blob = content.blob?.M;
  if (!blob) return { text: textIn(content, "text") ?? "" };
  return { blob: { sha256: textIn(blob, "sha256") ?? "", bytes: numberIn(blob, "bytes") ?? 0 } };
}
