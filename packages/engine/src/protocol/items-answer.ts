import type { Head } from "../chain/head.ts";
import { sha256 } from "../json/text.ts";
import type { BlobPlace } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { NodeEvent } from "./event.ts";

/** Input of a map's tasks. */
export interface MapEvent extends NodeEvent {
  /** How many items the history of the execution has room for; absent: the map is in the body of another one. */
  inline_items?: number;
  /** Of a map in the body of another one: more items than this no history has room for. */
  most_items?: number;
}

/** What the Map state behind a map's task iterates over: the numbers of its items, or where a list of them is. */
export type ItemsAnswer = { count: number } & (
  | { distributed: false; items: number[] }
  | { distributed: true; manifest: BlobPlace }
);

/** The numbers of more items would not fit into a state of Step Functions (256 KiB). */
const maxInline = 40_000;

/** Step Functions collects `{}` from each item, and ends a run whose results exceed 256 KiB. */
const maxDistributed = 80_000;

export function maxItems({ inline_items, most_items = maxInline }: Limits): number {
  return inline_items === undefined ? most_items : maxDistributed;
}

type Limits = Pick<MapEvent, "inline_items" | "most_items">;

/** Of a map's entry, whoever asks for it: it is the same again. Of any other entry nothing. */
export async function itemsAnswer(
  ports: Pick<Ports, "blobs">,
  head: Head,
  { inline_items: most = maxInline }: Pick<MapEvent, "inline_items">,
): Promise<ItemsAnswer | undefined> {
  const { count, status } = head;
  if (count === undefined || status === "failed") return undefined;
  const items = Array.from({ length: count }, (_, index) => index);
  if (count <= most) return { count, distributed: false, items };
  const body = Buffer.from(JSON.stringify(items));
  const ref = { sha256: sha256(body.toString()), bytes: body.length, type: "json" as const };
  await ports.blobs.put(head, ref, body);
  return { count, distributed: true, manifest: ports.blobs.placeOf(head, ref.sha256) };
}
