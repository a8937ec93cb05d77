import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** They fill memory, process tables and processors on purpose, or end processes by the clock: others beside them would fail. */
const alone = ["test/e2e/bad-code.test.ts", "test/local/e2b/limits.test.ts", "test/sandbox/python.test.ts"];

const stacks = ["test/stacks/*.test.ts"];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...alone, ...stacks],
          // Vitest's own choice for two processors is one worker; a worker waits for Python and disks half of the time.
          maxWorkers: Math.max(3, Math.ceil(availableParallelism() / 2)),
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 2 } } },
      // SST and CDK take seconds to load, and the stacks are made once: these files share one process.
      {
        extends: true,
        test: { name: "stacks", include: stacks, isolate: false, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
