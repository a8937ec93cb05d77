import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { type Answer, JsonText } from "./answer.ts";
import { readPut } from "./read-write.ts";
import { returnsOld } from "./return-values.ts";
import { performWrite } from "./write.ts";

export function putItem(store: Store, input: Input): Answer {
  const isOldWanted = returnsOld(input);
  const write = readPut(store, input);
  const { old } = performWrite(store, write);
  return { Attributes: isOldWanted && old ? new JsonText(old.item) : undefined };
}
