import type { PinnedCode } from "@nova/engine";
import type { PipelineParts } from "../../../packages/agents/src/agents/node-run.ts";
import { scriptedModels } from "./scripted-models.ts";

type ProvenCode = Parameters<PipelineParts["pinned"]["keep"]>[1];

/** A store of pinned code in memory. `kept` lists the code that runs have stored as pinned code. */
export interface FakePinned {
  kept: ProvenCode[];
  /** Code that runs have stored, but that needs an approval before it runs. */
  proposed: ProvenCode[];
  pinned: PipelineParts["pinned"];
}

export function fakePinned(
  chosen: PinnedCode | null = null,
  missing = { message: "no code fits", waits: false },
): FakePinned {
  const kept: ProvenCode[] = [];
  const proposed: ProvenCode[] = [];
  const pinned: PipelineParts["pinned"] = {
    choose: async () => chosen,
    find: async (_task, generation) => ({ generation, code: "found" }),
    async keep(_task, proven) {
      kept.push(proven);
      return `gen_${kept.length}`;
    },
    async propose(_task, code) {
      proposed.push(code);
    },
    missing: async () => missing,
  };
  return { kept, proposed, pinned };
}

/**
 * Returns the parts of a pipeline. By default, the scripted models expect no calls, the check finds nothing, and there
 * are no Python guides and no earlier examples.
 */
export function pipelineParts(parts: Partial<PipelineParts> = {}): PipelineParts {
  return {
    models: scriptedModels(),
    knowledge: {
      guidesFor: () => [],
      searchDocumentation: (library, query) => ({ text: `${library}: ${query}`, found: [`${library}.open`] }),
      earlierExamples: async () => [],
    },
    pinned: fakePinned().pinned,
    check: async () => [],
    defaultModel: "gpt-6-luna",
    packages: ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"],
    clock: { now: () => Date.parse("2026-11-22T06:00:00Z") },
    ...parts,
  };
}
