import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** They fill memory, process tables and processors on purpose, or end processes by the clock: others beside them would fail. */
const alone = ["test/e2e/bad-code.test.ts", "test/local/e2b/limits.test.ts", "test/sandbox/python.test.ts"];

/** They replace modules, which others have in use where a process is shared. */
const replacing = ["test/functions/{answer-of,lambda,publish,secrets}.test.ts", "test/functions/api/problem.test.ts"];

/** Lambdas in threads that are killed: they load the functions as they are deployed, in one bundle. */
const chaotic = "test/e2e/*chaos.test.ts";

const stacks = ["test/stacks/*.test.ts"];

/** Vitest's own choice for two processors is one worker; a worker waits for Python and disks half of the time. */
const beside = Math.max(4, Math.ceil(availableParallelism() / 2));

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A file of its own process loads SDKs and compilers for half a second before its first test; a shared one has them.
    isolate: false,
    setupFiles: "test/support/clean-process.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...alone, ...replacing, chaotic, ...stacks],
          maxWorkers: beside,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "chaos",
          include: [chaotic],
          globalSetup: "test/support/bundled-functions.ts",
          maxWorkers: beside,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "replacing", include: replacing, isolate: true, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
      { extends: true, test: { name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 2 } } },
      // SST and CDK take seconds to load, and the stacks are made once.
      { extends: true, test: { name: "stacks", include: stacks, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
