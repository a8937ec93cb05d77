import { DynamoDbError, invalid } from "../errors.ts";
import { returnedCapacity } from "../request/common.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answer.ts";
import { CapacitySum } from "./capacity.ts";
import { areDistinct } from "./distinct.ts";
import { readCheck, readDelete, readPut, readUpdate } from "./read-write.ts";
import { cancelled, type Reason, reasonOf } from "./transaction.ts";
import { performWrite, type Write } from "./write.ts";

const actions = { Put: readPut, Update: readUpdate, Delete: readDelete, ConditionCheck: readCheck };

/** DynamoDB's limits of one transaction. */
const mostActions = 100;
const mostBytes = 4 * 1024 * 1024;

/** All or nothing. The same ClientRequestToken within ten minutes is the same transaction, and done once. */
export function transactWriteItems(store: Store, input: Input): Answer {
  const capacity = returnedCapacity(input);
  const items = input.neededStructures("TransactItems", { least: 1, most: mostActions });
  const token = input.optionalText("ClientRequestToken", { least: 1, most: 36 });
  const writes = items.map((item) => readAction(store, item));
  checkDistinct(writes);
  const sum = new CapacitySum();
  store.atomically(() => {
    if (token !== undefined && isRepeated(store, token, JSON.stringify(items.map(({ fields }) => fields)))) return;
    perform(store, writes, sum);
  });
  return { ConsumedCapacity: sum.total(capacity) };
}

function readAction(store: Store, item: Input): Write {
  const given = Object.entries(actions).flatMap(([name, read]) => {
    const action = item.structure(name);
    return action ? [{ action, read }] : [];
  });
  const [only] = given;
  if (only && given.length === 1) return only.read(store, only.action);
  throw invalid("TransactItems can only contain one of Check, Put, Update or Delete");
}

function checkDistinct(writes: Write[]): void {
  if (!areDistinct(writes)) {
    throw invalid("Transaction request cannot include multiple operations on one item");
  }
  const bytes = writes.reduce((sum, { change }) => sum + (change.kind === "put" ? change.item.bytes : 0), 0);
  if (bytes <= mostBytes) return;
  throw invalid("Collective item sizes in the transaction cannot exceed 4MB");
}

function isRepeated(store: Store, token: string, request: string): boolean {
  const now = Date.now() / 1000;
  const known = store.tokens.find(token, now);
  if (known === undefined) {
    store.tokens.put(token, request, now);
    return false;
  }
  if (known === request) return true;
  const message = "The client token is in use for a different transaction";
  throw new DynamoDbError("IdempotentParameterMismatchException", message);
}

/** Every action is tried, so that the refusal has the reasons of all of them. */
function perform(store: Store, writes: Write[], sum: CapacitySum): void {
  const reasons = writes.map((write): Reason => {
    try {
      sum.add(write.table, performWrite(store, write).consumed, 2);
      return { Code: "None" };
    } catch (error) {
      return reasonOf(error);
    }
  });
  if (reasons.some(({ Code }) => Code !== "None")) throw cancelled(reasons);
}
