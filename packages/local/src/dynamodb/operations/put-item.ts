import { returnedCapacity } from "../request/common.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { type Answer, JsonText } from "./answer.ts";
import { consumedCapacity } from "./capacity.ts";
import { readPut } from "./read-write.ts";
import { returnsOld } from "./return-values.ts";
import { performWrite } from "./write.ts";

export function putItem(store: Store, input: Input): Answer {
  const [isOldWanted, capacity] = [returnsOld(input), returnedCapacity(input)];
  const write = readPut(store, input);
  const { old, consumed } = performWrite(store, write);
  return {
    Attributes: isOldWanted && old ? new JsonText(old.item) : undefined,
    ConsumedCapacity: consumedCapacity(capacity, write.table, consumed),
  };
}
