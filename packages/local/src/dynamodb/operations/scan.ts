import { invalid } from "../errors.ts";
import type { Input } from "../request/input.ts";
import type { Entry } from "../store/entries.ts";
import type { Store } from "../store/store.ts";
import { behindAll } from "../values/key.ts";
import type { Answer } from "./answer.ts";
import { readPage } from "./read-page.ts";
import { beginning, startOf } from "./start-key.ts";
import { readView } from "./view.ts";

interface Segment {
  number: number;
  of: number;
}

export function scan(store: Store, input: Input): Answer {
  const segment = readSegment(input);
  const [view] = readView(store, input, ["ProjectionExpression", "FilterExpression"]);
  const start = startOf(view);
  const to = segment ? boundary(segment.number + 1, segment) : behindAll;
  const after = start ?? (segment ? { ...beginning, hash: boundary(segment.number, segment) } : beginning);
  if (start && segment) checkStart(start, segment);
  const { table, index } = view;
  const rows = index ? store.entries.sweep(index.id, { after, to }) : store.items.sweep(table.id, { after, to });
  return readPage(view, rows);
}

function readSegment(input: Input): Segment | undefined {
  const number = input.integer("Segment", { least: 0, most: 999_999 });
  const of = input.integer("TotalSegments", { least: 1, most: 1_000_000 });
  const missing = (name: string, other: string) =>
    invalid(`The ${name} parameter is required but was not present in the request when ${other}`);
  if (number === undefined && of === undefined) return undefined;
  if (of === undefined) throw missing("TotalSegments", "Segment parameter is present");
  if (number === undefined) throw missing("Segment", "parameter TotalSegments is present");
  if (number < of) return { number, of };
  const rule = "The Segment parameter is zero-based and must be less than parameter TotalSegments";
  throw invalid(`${rule}: Segment: ${number} is not less than TotalSegments: ${of}`);
}

/** Every hash key begins with four bytes of a digest: the segments divide those. */
function boundary(number: number, { of }: Segment): Uint8Array {
  if (number === of) return behindAll;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Math.ceil((2 ** 32 * number) / of));
  return bytes;
}

function checkStart({ hash }: Entry, segment: Segment): void {
  const from = boundary(segment.number, segment);
  const to = boundary(segment.number + 1, segment);
  if (Buffer.compare(hash, from) >= 0 && Buffer.compare(hash, to) < 0) return;
  const what = "Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment.";
  const where = `TotalSegments: ${segment.of} Segment: ${segment.number}`;
  throw invalid(`The provided starting key is invalid: ${what} ${where}`);
}
