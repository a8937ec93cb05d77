import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { behindAll } from "../values/key.ts";
import type { Answer } from "./answer.ts";
import { readPage } from "./read-page.ts";
import { beginning, startOf } from "./start-key.ts";
import { readView } from "./view.ts";

export function scan(store: Store, input: Input): Answer {
  const [view] = readView(store, input, ["ProjectionExpression", "FilterExpression"]);
  const stretch = { after: startOf(view) ?? beginning, to: behindAll };
  const { table, index } = view;
  return readPage(view, index ? store.entries.sweep(index.id, stretch) : store.items.sweep(table.id, stretch));
}
