import { join } from "node:path";
import type { Archive, Claim } from "@nova/service";
import { InvalidInput } from "../errors.ts";
import { eachLine, files } from "./format.ts";

/** Selects the records that the import of one client restores. */
export interface OwnRecords {
  brings(item: string): boolean;
  bringsObject(key: string): boolean;
}

type OwnArchive = Pick<Archive, "claim" | "clientOf" | "hasWorkflow">;

/**
 * Kinds that an unverified export may restore. Other kinds have effects: code runs, a delivery blocks a real one, an
 * audit record may be false.
 */
const harmlessKinds = new Set([
  "client",
  "credential",
  "execution",
  "label",
  "link",
  "note",
  "spending",
  "stats",
  "step",
  "version",
]);

/**
 * Finds the client of an unverified full export. An attacker can declare the export of one client a full one, which
 * would restore API keys. Throws `InvalidInput` unless all records belong to one client.
 */
export async function demandOneClient(archive: Pick<Archive, "claim">, folder: string): Promise<string> {
  const clients = new Set<string>();
  await eachLine(join(folder, files.items), async (item) => {
    const client = archive.claim(item)?.client;
    if (client !== undefined) clients.add(client);
  });
  const [client, ...others] = clients;
  if (client !== undefined && others.length === 0) return client;
  const found = client === undefined ? "no client" : `${clients.size} clients`;
  throw new InvalidInput(
    `"${folder}" is not verified, and has records of ${found} - if you trust its API keys, triggers and workflows, add --everything`,
  );
}

/**
 * Finds the client's own records in an export: its runs, and the versions that they ran. API keys and data that clients
 * share never count. Throws `InvalidInput` if a run belongs to another client here.
 */
export async function readOwn(
  archive: OwnArchive,
  folder: string,
  { client, isVerified }: { client: string; isVerified: boolean },
): Promise<OwnRecords> {
  const isTrusted = ({ kind, isOpen }: Claim) => isVerified || (harmlessKinds.has(kind) && !isOpen);
  const executions = new Set<string>();
  const versions = new Map<string, Set<number>>();
  await eachLine(join(folder, files.items), async (item) => {
    const claim = archive.claim(item);
    if (claim?.kind !== "execution" || claim.client !== client || !isTrusted(claim)) return;
    const { execution = "", version = { workflow: "", number: 0 } } = claim;
    const owner = await archive.clientOf(execution);
    if (owner !== undefined && owner !== client) {
      throw new InvalidInput(`execution ${execution} of the export is another client's here - nothing was restored`);
    }
    executions.add(execution);
    versions.set(version.workflow, (versions.get(version.workflow) ?? new Set()).add(version.number));
  });
  // Clients share workflows. An unverified version of an existing workflow would run for all of them.
  for (const workflow of isVerified ? [] : versions.keys())
    if (await archive.hasWorkflow(workflow)) versions.delete(workflow);
  return {
    brings(item) {
      const claim = archive.claim(item);
      if (!claim || !isTrusted(claim)) return false;
      const { workflow = "", number = 0 } = claim.version ?? {};
      if (claim.kind === "version") return versions.get(workflow)?.has(number) === true;
      const isOwn = claim.client === undefined || claim.client === client;
      return isOwn && (claim.execution === undefined || executions.has(claim.execution));
    },
    bringsObject(key) {
      const [place, name = ""] = key.split("/");
      return place === "blobs" ? name === client : versions.has(name);
    },
  };
}
