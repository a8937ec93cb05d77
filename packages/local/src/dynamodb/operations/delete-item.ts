import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { type Answer, JsonText } from "./answer.ts";
import { readDelete } from "./read-write.ts";
import { returnsOld } from "./return-values.ts";
import { performWrite } from "./write.ts";

export function deleteItem(store: Store, input: Input): Answer {
  const isOldWanted = returnsOld(input);
  const write = readDelete(store, input);
  const { old } = performWrite(store, write);
  return { Attributes: isOldWanted && old ? new JsonText(old.item) : undefined };
}
