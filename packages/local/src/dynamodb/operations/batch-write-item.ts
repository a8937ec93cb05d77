import { invalid, malformed } from "../errors.ts";
import { checkTableName, largestItemBytes } from "../request/common.ts";
import { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Table } from "../store/table.ts";
import { encodeItemKey, encodeKey } from "../values/key.ts";
import type { Answer } from "./answer.ts";
import { areDistinct } from "./distinct.ts";
import { requestItems } from "./requested-tables.ts";
import { performWrite, type Write } from "./write.ts";

/** DynamoDB's limit of one call. */
const maxWrites = 25;

/** Nothing is ever left unprocessed. Written in one go, which is more than the cloud promises: do not rely on it. */
export function batchWriteItem(store: Store, input: Input): Answer {
  const requests = requestItems(input).flatMap(([name, list]) => readRequests(name, list));
  if (requests.length > maxWrites) throw invalid("Too many items requested for the BatchWriteItem call");
  const writes = requests.map(({ name, request }) => readWrite(store.tables.get(name), request));
  if (!areDistinct(writes)) throw invalid("Provided list of item keys contains duplicates");
  store.atomically(() => {
    for (const write of writes) performWrite(store, write);
  });
  return { UnprocessedItems: {} };
}

function readRequests(name: string, list: unknown): { name: string; request: Input }[] {
  checkTableName(name);
  if (!Array.isArray(list)) throw malformed("Unexpected field type");
  if (list.length === 0 || list.length > maxWrites) {
    const rules = ["less than or equal to 25", "greater than or equal to 1"].map((r) => `Member must have length ${r}`);
    const what = `failed to satisfy constraint: Map value must satisfy constraint: [${rules.join(", ")}]`;
    throw invalid(`1 validation error detected: Value at 'requestItems' ${what}`);
  }
  return list.map((request) => ({ name, request: new Input(request, `requestItems.${name}.member.`) }));
}

function readWrite(table: Table, request: Input): Write {
  const [put, remove] = [request.structure("PutRequest"), request.structure("DeleteRequest")];
  if ((put === undefined) === (remove === undefined)) {
    const what = "Supplied AttributeValue has more than one datatypes set";
    throw invalid(`${what}, must contain exactly one of the supported datatypes`);
  }
  const plain = { table, condition: undefined, showsOld: false };
  if (remove) {
    return { ...plain, key: encodeKey(remove.attributes("Key").attributes, table.key), change: { kind: "delete" } };
  }
  const item = (put as Input).attributes("Item");
  if (item.bytes > largestItemBytes) throw invalid("Item size has exceeded the maximum allowed size");
  return { ...plain, key: encodeItemKey(item.attributes, table.key), change: { kind: "put", item } };
}
