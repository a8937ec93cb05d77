import { defined, nameToResolve } from "@nova/workflow";
import { linkName } from "../chain/link-name.ts";
import type { Turn } from "../ports/chain.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { Claim, RunRequest } from "../ports/sandboxes.ts";
import type { NodeIo } from "./node-io.ts";
import type { Task, TaskInput } from "./task-input.ts";

/** One run of a node's code. `step` distinguishes the runs at one link; code written by hand has one. */
export type NodeCode = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "network" | "near"> &
  Pick<Claim, "step">;

/** Builds the request for the sandbox: the claim, the code, and the values that the code finds. */
export function requestFor(
  { node, position: { at }, restartKey }: Task & Pick<TaskInput, "restartKey">,
  { attempt }: Turn,
  { step, code, fileName, timeoutSeconds, network, near }: NodeCode,
  context: RunRequest["context"],
  { isPlain }: Pick<NodeIo, "isPlain">,
): RunRequest {
  const link = linkName(at);
  return {
    execution: at.execution,
    claim: { link, step, attempt },
    node: node.id,
    nodeType: node.type,
    code,
    fileName,
    timeoutSeconds,
    context,
    ...defined({ network, near, isPlain: isPlain || undefined }),
    environment: {
      NOVA_IDEMPOTENCY_KEY: `${link}.${step}`,
      NOVA_RESTART_KEY: restartKey,
      NOVA_EXECUTION_ID: at.execution,
      NOVA_NODE_ID: node.id,
    },
  };
}

/** The hosts that a node's code can connect to. Undefined: all that its sandbox can reach. */
export function allowedFor(
  { node, position: { before } }: Pick<Task, "node" | "position">,
  { hosts }: CredentialOverlay,
): string[] | undefined {
  const allow = node.executor.kind === "text" ? undefined : node.executor.allow;
  return before.sealed ? [] : allow && [...new Set([...allow, ...hosts])];
}

/** Resolves names on ports other than 80 and 443. The turn keeps the addresses, so every delivery uses the same. */
export async function addressesFor(
  { hostNames }: Pick<Ports, "hostNames">,
  allow: readonly string[] | undefined,
): Promise<Pick<Turn, "addresses">> {
  const names = new Set((allow ?? []).flatMap((entry) => nameToResolve(entry) ?? []));
  if (names.size === 0) return {};
  const found = [...names].map(async (name) => [name, await hostNames.addressesOf(name)] as const);
  return { addresses: Object.fromEntries(await Promise.all(found)) };
}

/** The network of one run of code. On a laptop the hosts of credentials are often on the sandbox's machine. */
export function networkOf(
  allow: readonly string[] | undefined,
  { addresses }: Pick<Turn, "addresses">,
  { hosts }: Pick<CredentialOverlay, "hosts"> = { hosts: [] },
): Pick<RunRequest, "network" | "near"> {
  if (allow) return { network: { allow: [...allow], ...(addresses && { addresses }) } };
  return hosts.length > 0 ? { near: [...hosts] } : {};
}
