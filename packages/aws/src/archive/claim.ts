import type { Claim } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { type Item, numberIn, textIn } from "../dynamodb/chain/items.ts";
import { kindOf } from "../formats.ts";

/** Where an item of a kind lies, and whose it is: patterns of its own attributes. `*` at its end: anything may follow. */
interface Place {
  pk: string;
  sk: string;
  /** The keys of its indexes; an item may lack them. */
  workflowKey?: string;
  clientKey?: string;
  client?: string;
  /** Of a chain its partition: an execution, and perhaps an item of a map in it. */
  execution?: string;
}

/** A line per kind that belongs to one client. Any other kind (keys, triggers, queues, what workflows share) is missing. */
const places: Readonly<Record<string, Place>> = {
  audit: { pk: "A", sk: "A#{id}", clientKey: "A#{client}", client: "{client}" },
  client: { pk: "CLIENT#{slug}", sk: "CLIENT", clientKey: "CLIENTS", client: "{slug}" },
  credential: { pk: "S#{owner}", sk: "N#{name}", clientKey: "CREDENTIALS", client: "{owner}" },
  delivery: {
    ...{ pk: "DELIVERY#{key}", sk: "DELIVERY", workflowKey: "DELIVERY#{workflow}", clientKey: "DELIVERY#{client}" },
    client: "{client}",
  },
  execution: {
    ...{ pk: "E#{id}", sk: "E", workflowKey: "W#{workflowId}", clientKey: "C#{client}" },
    ...{ client: "{client}", execution: "{id}" },
  },
  generation: { pk: "G#{workflowId}", sk: "N#{node}#{client}#{key}#{codeHash}", client: "{client}" },
  label: { pk: "LABEL#{name}#{value}", sk: "{startedAt}#{id}", client: "{client}", execution: "{id}" },
  link: { pk: "C#{partition}", sk: "L#*", execution: "{partition}" },
  note: { pk: "C#{partition}", sk: "N#*", execution: "{partition}" },
  session: {
    ...{ pk: "SESSION#{id}", sk: "SESSION", clientKey: "SESSION#{client}" },
    client: "{client}",
  },
  spending: { pk: "M#{client}#{month}", sk: "{execution}#*", client: "{client}", execution: "{execution}" },
  stats: { pk: "F#{workflowId}", sk: "*", clientKey: "F#{client}", client: "{client}" },
  step: { pk: "C#{partition}", sk: "S#*", execution: "{partition}" },
  task: {
    ...{ pk: "T#{execution}", sk: "T#{id}", workflowKey: "T#{id}", clientKey: "T#{client}" },
    execution: "{execution}",
  },
  token: { pk: "T#{execution}", sk: "K#*", execution: "{execution}" },
  version: { pk: "W#{workflowId}", sk: "V#{version}", workflowKey: "VERSIONS" },
};

/**
 * Whose an item is by its own words. Undefined for a kind that is no client's, and for an item that lies where its words
 * do not say: an API key is one by its place in the table, whatever it calls itself.
 */
export function claimOf(item: Item): Claim | undefined {
  const kind = kindOf(item);
  const place = Object.hasOwn(places, kind) ? places[kind] : undefined;
  if (!place) return undefined;
  /** The number of a version has ten digits in keys. */
  const text = (name: string) => textIn(item, name) ?? numberIn(item, name)?.toString().padStart(10, "0") ?? "";
  const filled = (pattern: string) => pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => text(name));
  const fits = (key: string, pattern: string) =>
    pattern.endsWith("*") ? key.startsWith(filled(pattern.slice(0, -1))) : key === filled(pattern);
  if (!fits(textIn(item, "pk") ?? "", place.pk) || !fits(textIn(item, "sk") ?? "", place.sk)) return undefined;
  for (const name of ["workflowKey", "clientKey"] as const) {
    const pattern = place[name];
    if (item[name] !== undefined && (pattern === undefined || textIn(item, name) !== filled(pattern))) return undefined;
  }
  const owner = place.client && filled(place.client);
  const client = kind === "credential" ? (/^client:(.+)$/.exec(owner ?? "")?.[1] ?? "") : owner;
  const execution = place.execution && filled(place.execution).split("/")[0];
  const version = { workflow: textIn(item, "workflowId") ?? "", number: numberIn(item, "version") ?? 0 };
  const ran = kind === "execution" || kind === "version" ? version : undefined;
  return { kind, ...defined({ client, execution, version: ran }), isOpen: textIn(item, "open") === "open" };
}
