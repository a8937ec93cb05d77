import { type Root, readRoot } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { Conflict } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { type PageQuery, readPage } from "../ports/page.ts";
import type { RootStore } from "../ports/roots.ts";
import { newestRoot } from "./prove.ts";
import { proveAndStamp } from "./stamp.ts";

/** A root with the time of its stamp and the delay of the stamp; both are null as long as the root has no stamp. */
export interface ShownRoot extends Root {
  stampedAt: string | null;
  delayMs: number | null;
}

/** Lists the roots, the newest first. Throws `Forbidden` if the caller's key is for one client. */
export async function listRoots({ rootStore }: Pick<ServicePorts, "rootStore">, by: Principal, page: PageQuery) {
  demandAllClients(by);
  const { items, ...rest } = await readPage(page, rootStore.list, ({ number }) => String(number));
  return { items: await withStamps(rootStore, items.map(readRoot)), ...rest };
}

/** Adds to each root its time stamp, if it has one. `roots` has no gaps, and starts with the newest root. */
async function withStamps({ stamps }: Pick<RootStore, "stamps">, roots: readonly Root[]): Promise<ShownRoot[]> {
  const [newest] = roots;
  if (!newest) return [];
  const found = await stamps({ limit: roots.length, after: String(newest.number + 1) });
  return roots.map((root) => {
    const { at = null, delayMs = null } = found.find(({ number }) => number === root.number) ?? {};
    return { ...root, stampedAt: at, delayMs };
  });
}

/** The milliseconds that a request may take to make roots. API Gateway answers 503 after 30 seconds. */
const requestMs = 20_000;

/**
 * Makes a root over the runs that have closed, without waiting for the hourly job, and returns the newest root.
 * `problem` is the reason why a root has no time stamp yet. Throws `Forbidden` if the caller's key is for one client,
 * and `Conflict` if no run has ever closed.
 */
export async function makeRoot(
  ports: Parameters<typeof proveAndStamp>[0],
  by: Principal,
): Promise<{ root: ShownRoot; isNew: boolean; problem?: string }> {
  demandAllClients(by);
  const { made, problem } = await proveAndStamp(ports, { until: ports.clock.now() + requestMs });
  const newest = made.at(-1) ?? (await newestRoot(ports));
  if (!newest) throw new Conflict("no run has closed yet, so there is nothing to prove - run a workflow first");
  const [root] = await withStamps(ports.rootStore, [newest]);
  return { root: root as ShownRoot, isNew: made.length > 0, ...(problem !== undefined && { problem }) };
}
