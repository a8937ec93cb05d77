import { lookup } from "node:dns/promises";
import {
  type Clock,
  type GenerationStore,
  type HostNames,
  NovaError,
  type Pipeline,
  type Sandboxes,
  type Timer,
} from "@nova/engine";
import { othersSandboxes, type SandboxesOptions } from "@nova/sandbox";

/**
 * The models, the checker of Python and the harness. Only functions that run nodes load these parts, because they make
 * up most of a bundle.
 */
export interface NodeParts {
  pipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline;
  sandboxes(options: SandboxesOptions): Sandboxes;
}

const runsNoNodes = () => Promise.reject(new TypeError("this function runs no nodes"));

let parts: NodeParts = {
  pipeline: () => ({
    pinned: runsNoNodes,
    generation: runsNoNodes,
    run: runsNoNodes,
    answer: runsNoNodes,
    converse: runsNoNodes,
  }),
  sandboxes: othersSandboxes,
};

/**
 * Provides the models or the sandboxes. A function that runs nodes or creates sandboxes calls this when its module
 * loads, before the ports are created.
 */
export function provideNodeParts(provided: Partial<NodeParts>): void {
  parts = { ...parts, ...provided };
}

export function nodeParts(): NodeParts {
  return parts;
}

export const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export const timer: Timer = { timeout: (ms) => AbortSignal.timeout(ms) };

/** Error codes of the resolver for a host name that does not exist, or has no address. */
const noSuchName = ["ENOTFOUND", "ENODATA"];

/** Looks up host names with the resolver of the operating system. */
export const hostNames: HostNames = {
  async addressesOf(host) {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch (cause) {
      if (noSuchName.includes(String((cause as NodeJS.ErrnoException).code))) return [];
      throw new NovaError("SandboxUnavailable", `"${host}" of network.allow cannot be looked up for now`, { cause });
    }
  },
};

/** Returns a function that calls `make` at its first call, and returns the same result at every later call. */
export function lazyValue<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
