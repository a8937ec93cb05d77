import type { Claim } from "@nova/service";
import { type Item, numberIn, textIn } from "../dynamodb/chain/items.ts";
import { kindOf } from "../formats.ts";

/** Where an item of a kind lies, by its own attributes, and whose it is. */
interface Place {
  pk: string;
  sk: string | { begins: string };
  /** The keys of its indexes; an item may lack them. */
  workflowKey?: string;
  clientKey?: string;
  claim: Omit<Claim, "kind" | "isOpen">;
}

type Text = (name: string) => string;

/** A line per kind that belongs to one client. Any other kind (keys, triggers, queues, what workflows share) is missing. */
const places: Readonly<Record<string, (text: Text, item: Item) => Place>> = {
  audit: (t) => ({ pk: "A", sk: `A#${t("id")}`, clientKey: `A#${t("client")}`, claim: { client: t("client") } }),
  client: (t) => ({ pk: `CLIENT#${t("slug")}`, sk: "CLIENT", clientKey: "CLIENTS", claim: { client: t("slug") } }),
  credential: (t) => ({
    ...{ pk: `S#${t("owner")}`, sk: `N#${t("name")}`, clientKey: "CREDENTIALS" },
    claim: { client: /^client:(.+)$/.exec(t("owner"))?.[1] ?? "" },
  }),
  delivery: (t) => ({
    ...{ pk: `DELIVERY#${t("key")}`, sk: "DELIVERY", workflowKey: `DELIVERY#${t("workflow")}` },
    ...{ clientKey: `DELIVERY#${t("client")}`, claim: { client: t("client") } },
  }),
  execution: (t, item) => ({
    ...{ pk: `E#${t("id")}`, sk: "E", workflowKey: `W#${t("workflowId")}`, clientKey: `C#${t("client")}` },
    claim: { client: t("client"), execution: t("id"), version: versionIn(item) },
  }),
  generation: (t) => ({
    ...{ pk: `G#${t("workflowId")}`, sk: `N#${t("node")}#${t("client")}#${t("key")}#${t("codeHash")}` },
    claim: { client: t("client") },
  }),
  link: (t) => ({ pk: `C#${t("partition")}`, sk: { begins: "L#" }, claim: { execution: executionIn(t("partition")) } }),
  spending: (t) => ({
    ...{ pk: `M#${t("client")}#${t("month")}`, sk: { begins: `${t("execution")}#` } },
    claim: { client: t("client"), execution: t("execution") },
  }),
  stats: (t) => ({
    ...{
      pk: `F#${t("workflowId")}`,
      sk: { begins: "" },
      clientKey: `F#${t("client")}`,
      claim: { client: t("client") },
    },
  }),
  step: (t) => ({ pk: `C#${t("partition")}`, sk: { begins: "S#" }, claim: { execution: executionIn(t("partition")) } }),
  task: (t) => ({
    ...{ pk: `T#${t("execution")}`, sk: `T#${t("id")}`, workflowKey: `T#${t("id")}` },
    ...{ clientKey: `T#${t("client")}`, claim: { execution: t("execution") } },
  }),
  token: (t) => ({ pk: `T#${t("execution")}`, sk: { begins: "K#" }, claim: { execution: t("execution") } }),
  version: (t, item) => ({
    ...{ pk: `W#${t("workflowId")}`, sk: `V#${String(numberIn(item, "version")).padStart(10, "0")}` },
    ...{ workflowKey: "VERSIONS", claim: { version: versionIn(item) } },
  }),
};

/**
 * Whose an item is by its own words. Undefined for a kind that is no client's, and for an item that lies where its words
 * do not say: an API key is one by its place in the table, whatever it calls itself.
 */
export function claimOf(item: Item): Claim | undefined {
  const kind = kindOf(item);
  const place = Object.hasOwn(places, kind) ? places[kind]?.((name) => textIn(item, name) ?? "", item) : undefined;
  if (!place || textIn(item, "pk") !== place.pk) return undefined;
  const sk = textIn(item, "sk") ?? "";
  if (typeof place.sk === "string" ? sk !== place.sk : !sk.startsWith(place.sk.begins)) return undefined;
  const { workflowKey, clientKey } = place;
  for (const [name, expected] of Object.entries({ workflowKey, clientKey })) {
    if (item[name] !== undefined && (expected === undefined || textIn(item, name) !== expected)) return undefined;
  }
  return { kind, ...place.claim, isOpen: textIn(item, "open") === "open" };
}

/** A partition of a chain is an execution, and perhaps an item of a map in it. */
function executionIn(partition: string): string {
  return partition.split("/")[0] ?? "";
}

function versionIn(item: Item): { workflow: string; number: number } {
  return { workflow: textIn(item, "workflowId") ?? "", number: numberIn(item, "version") ?? 0 };
}
