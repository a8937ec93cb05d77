import { project } from "../expressions/project.ts";
import type { Path } from "../expressions/syntax.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { type Answer, JsonText } from "./answer.ts";
import { readUpdate } from "./read-write.ts";
import { type ReturnValues, returnValues } from "./return-values.ts";
import { performWrite, type Write, type Written } from "./write.ts";

export function updateItem(store: Store, input: Input): Answer {
  const wanted = returnValues(input);
  const write = readUpdate(store, input);
  const written = performWrite(store, write);
  return { Attributes: returned(wanted, write, written) };
}

function returned(wanted: ReturnValues, { change }: Write, { old, next }: Written): unknown {
  const paths = change.kind === "update" ? change.updates.map(({ path }) => path) : [];
  switch (wanted) {
    case "NONE":
      return undefined;
    case "ALL_OLD":
      return old && new JsonText(old.item);
    case "ALL_NEW":
      return next;
    case "UPDATED_OLD":
      return old && touched(JSON.parse(old.item), paths);
    case "UPDATED_NEW":
      return next && touched(next, paths);
  }
}

function touched(item: AttributeMap, paths: Path[]): AttributeMap | undefined {
  const attributes = project(item, paths);
  return Object.keys(attributes).length > 0 ? attributes : undefined;
}
