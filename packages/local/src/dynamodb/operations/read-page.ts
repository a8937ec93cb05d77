import { isTrue } from "../expressions/evaluate.ts";
import { project } from "../expressions/project.ts";
import type { StoredItem } from "../store/items.ts";
import { positionNames } from "../store/table.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { type Answer, jsonList } from "./answer.ts";
import type { View } from "./view.ts";

/** DynamoDB: a page ends with the item that makes it 1 MB, before the filter. */
const pageBytes = 1024 * 1024;

/** Reads rows until the page is full; `Limit` counts what was read, not what the filter lets through. */
export function readPage(view: View, rows: Iterable<StoredItem>): Answer {
  const { limit = Number.POSITIVE_INFINITY } = view;
  const shown: string[] = [];
  let [scanned, count, bytes] = [0, 0, 0];
  let last: StoredItem | undefined;
  for (const row of rows) {
    const text = look(view, row);
    scanned++;
    bytes += row.bytes;
    if (text !== undefined) count++;
    if (text !== undefined && !view.onlyCounts) shown.push(text);
    if (scanned < limit && bytes < pageBytes) continue;
    last = row;
    break;
  }
  return {
    Items: view.onlyCounts ? undefined : jsonList(shown),
    Count: count,
    ScannedCount: scanned,
    LastEvaluatedKey: last && positionOf(view, JSON.parse(last.item)),
  };
}

/** What the view shows of a row, undefined where the filter refuses it; a row that is shown whole is not parsed. */
function look({ filter, paths }: View, { item }: StoredItem): string | undefined {
  if (!filter && !paths) return item;
  const whole: AttributeMap = JSON.parse(item);
  if (filter && !isTrue(filter, whole)) return undefined;
  return paths ? JSON.stringify(project(whole, paths)) : item;
}

function positionOf({ table, index }: View, item: AttributeMap): AttributeMap {
  const names = positionNames(table, index);
  return project(
    item,
    names.map((name) => [name]),
  );
}
