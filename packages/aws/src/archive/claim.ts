import type { Claim } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { type Item, numberIn, textIn } from "../dynamodb/chain/items.ts";
import { kindOf } from "../formats.ts";

/** Patterns of an item's keys and owner, built from its attributes. A final `*` matches any rest. */
interface KeyPatterns {
  pk: string;
  sk: string;
  /** Keys in indexes; an item may lack them. */
  workflowKey?: string;
  clientKey?: string;
  client?: string;
  /** The partition of a chain item names the execution, and may name a map item after it. */
  execution?: string;
}

/** Kinds that belong to one client. Other kinds (API keys, triggers, queues, shared data of workflows) are missing. */
const keyPatterns: Readonly<Record<string, KeyPatterns>> = {
  audit: { pk: "A", sk: "A#{id}", clientKey: "A#{client}", client: "{client}" },
  client: { pk: "CLIENT#{slug}", sk: "CLIENT", clientKey: "CLIENTS", client: "{slug}" },
  credential: { pk: "S#{owner}", sk: "N#{name}", clientKey: "CREDENTIALS", client: "{owner}" },
  delivery: {
    pk: "DELIVERY#{key}",
    sk: "DELIVERY",
    workflowKey: "DELIVERY#{workflow}",
    clientKey: "DELIVERY#{client}",
    client: "{client}",
  },
  execution: {
    pk: "E#{id}",
    sk: "E",
    workflowKey: "W#{workflowId}",
    clientKey: "C#{client}",
    client: "{client}",
    execution: "{id}",
  },
  generation: { pk: "G#{workflowId}", sk: "N#{node}#{client}#{key}#{codeHash}", client: "{client}" },
  label: { pk: "LABEL#{name}#{value}", sk: "{startedAt}#{id}", client: "{client}", execution: "{id}" },
  link: { pk: "C#{partition}", sk: "L#*", execution: "{partition}" },
  note: { pk: "C#{partition}", sk: "N#*", execution: "{partition}" },
  session: { pk: "SESSION#{id}", sk: "SESSION", clientKey: "SESSION#{client}", client: "{client}" },
  spending: { pk: "M#{client}#{month}", sk: "{execution}#*", client: "{client}", execution: "{execution}" },
  stats: { pk: "F#{workflowId}", sk: "*", clientKey: "F#{client}", client: "{client}" },
  step: { pk: "C#{partition}", sk: "S#*", execution: "{partition}" },
  task: {
    pk: "T#{execution}",
    sk: "T#{id}",
    workflowKey: "T#{id}",
    clientKey: "T#{client}",
    execution: "{execution}",
  },
  token: { pk: "T#{execution}", sk: "K#*", execution: "{execution}" },
  version: { pk: "W#{workflowId}", sk: "V#{version}", workflowKey: "VERSIONS" },
};

/**
 * The client and execution that an imported item claims to belong to. Undefined for kinds that belong to no client, and
 * for an item whose keys do not match its attributes: a forged item could otherwise become an API key.
 */
export function claimOf(item: Item): Claim | undefined {
  const kind = kindOf(item);
  const place = Object.hasOwn(keyPatterns, kind) ? keyPatterns[kind] : undefined;
  if (!place) return undefined;
  // Keys hold the number of a version with ten digits.
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
