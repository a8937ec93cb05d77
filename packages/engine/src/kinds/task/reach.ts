import { nameToResolve } from "@nova/workflow";
import type { Turn } from "../../ports/chain.ts";
import type { CredentialOverlay } from "../../ports/credentials.ts";
import type { Ports } from "../../ports/index.ts";
import type { RunRequest } from "../../ports/sandboxes.ts";
import type { Task } from "./task.ts";

/** What a node's code can connect to. Undefined: whatever its sandbox can. */
export function allowedFor(
  { node, position: { before } }: Pick<Task, "node" | "position">,
  { hosts }: CredentialOverlay,
): string[] | undefined {
  const allow = node.executor.kind === "text" ? undefined : node.executor.allow;
  return before.sealed ? [] : allow && [...new Set([...allow, ...hosts])];
}

/** What names on other ports than the web's lead to: the same for each delivery, and kept in the entry. */
export async function addressesFor(
  { hostNames }: Pick<Ports, "hostNames">,
  allow: readonly string[] | undefined,
): Promise<Pick<Turn, "addresses">> {
  const names = new Set((allow ?? []).flatMap((entry) => nameToResolve(entry) ?? []));
  if (names.size === 0) return {};
  const found = [...names].map(async (name) => [name, await hostNames.addressesOf(name)] as const);
  return { addresses: Object.fromEntries(await Promise.all(found)) };
}

/** The network of one run of code. On a laptop the hosts of credentials are often on the same machine. */
export function networkOf(
  allow: readonly string[] | undefined,
  { addresses }: Pick<Turn, "addresses">,
  { hosts }: Pick<CredentialOverlay, "hosts"> = { hosts: [] },
): Pick<RunRequest, "network" | "near"> {
  if (allow) return { network: { allow: [...allow], ...(addresses && { addresses }) } };
  return hosts.length > 0 ? { near: [...hosts] } : {};
}
