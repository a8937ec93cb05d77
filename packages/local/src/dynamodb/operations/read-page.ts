import { isTrue } from "../expressions/evaluate.ts";
import { project } from "../expressions/project.ts";
import type { StoredItem } from "../store/items.ts";
import { positionNames } from "../store/table.ts";
import { bytesOf } from "../values/admit.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { type Answer, jsonList } from "./answer.ts";
import { consumedCapacity, readConsumption, readUnits } from "./capacity.ts";
import type { View } from "./view.ts";

/** DynamoDB: a page ends with the item that makes it 1 MB, before the filter. */
const pageBytes = 1024 * 1024;

/** Reads rows until the page is full; `Limit` counts what was read, not what the filter lets through. */
export function readPage(view: View, rows: Iterable<StoredItem>): Answer {
  const { limit = Number.POSITIVE_INFINITY, table, index } = view;
  const shown: string[] = [];
  let [scanned, count, bytes] = [0, 0, 0];
  let last: StoredItem | undefined;
  for (const row of rows) {
    const seen = look(view, row);
    scanned++;
    bytes += seen.bytes;
    if (seen.text !== undefined) count++;
    if (seen.text !== undefined && !view.onlyCounts) shown.push(seen.text);
    if (scanned < limit && bytes < pageBytes) continue;
    last = row;
    break;
  }
  const units = readUnits(bytes, view.isConsistent);
  return {
    Items: view.onlyCounts ? undefined : jsonList(shown),
    Count: count,
    ScannedCount: scanned,
    LastEvaluatedKey: last && positionOf(view, JSON.parse(last.item)),
    ConsumedCapacity: consumedCapacity(view.capacity, table, readConsumption(units, index)),
  };
}

/** What the view shows of a row, nothing where the filter refuses it; a row that is shown whole is not parsed. */
function look({ filter, paths, visible }: View, { item, bytes }: StoredItem): { bytes: number; text?: string } {
  if (!filter && !paths && !visible) return { bytes, text: item };
  const whole: AttributeMap = JSON.parse(item);
  const seen = visible
    ? project(
        whole,
        visible.map((name) => [name]),
      )
    : whole;
  const seenBytes = visible ? bytesOf(seen) : bytes;
  if (filter && !isTrue(filter, seen)) return { bytes: seenBytes };
  return { bytes: seenBytes, text: paths || visible ? JSON.stringify(paths ? project(seen, paths) : seen) : item };
}

function positionOf({ table, index }: View, item: AttributeMap): AttributeMap {
  const names = positionNames(table, index);
  return project(
    item,
    names.map((name) => [name]),
  );
}
