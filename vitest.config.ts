import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig, type TestProjectConfiguration } from "vitest/config";

/**
 * Tests with the tag `deep` take long: random models, volumes, attacks, bundles, every page of the console. `npm test` leaves
 * them out, `npm run test:deep` runs only them, and `npx vitest run <file>` runs all tests of a file.
 */
const tags = [{ name: "deep", description: "takes long: npm run test:deep" }];

const isQuick = process.argv.includes("--tags-filter=!deep");
const isDeep = process.argv.includes("--tags-filter=deep");

/** Test files in which this command would skip every test. They are left out, because loading them takes time. */
const skipped = globSync("test/**/*.test.ts").filter((file) => {
  const text = readFileSync(file, "utf8");
  return isDeep ? !/@module-tag deep|tags: \["deep"\]/.test(text) : isQuick && text.includes("@module-tag deep");
});

/**
 * These files fill memory, process tables and the limits of a user, or count frames. So each of them runs alone on the
 * machine.
 */
const alone = [
  "test/e2b-local/limits.test.ts",
  "test/sandbox/python.test.ts",
  "test/e2e/bad-code.test.ts",
  "test/e2e/floods.test.ts",
  "test/console/speed.test.ts",
];

/** These files replace modules or timers by doubles, which would also affect other files in the same process. */
const replacing = [
  "test/functions/{details,lambda,publish,retain,service-app,sweep}.test.ts",
  "test/functions/api/problem.test.ts",
  "test/local/cloud/bodies.test.ts",
  "test/workflow/deadline/deadline-worker.test.ts",
  "test/workflow/inputs/within-time.test.ts",
  "test/workflow/source/open-inside.test.ts",
];

/** These files kill Lambda functions, which run as threads that load all functions in one bundle. */
const chaotic = ["test/e2e/*chaos.test.ts"];

/** These files spend most of their time waiting for a browser and its server. */
const browsing = ["test/console/*.test.ts"];

/** Workers wait for Python and disks half of the time, so at least four run, even on a machine with two processors. */
const maxWorkers = Math.max(4, Math.ceil(availableParallelism() / 2));

export default defineConfig({
  test: {
    testTimeout: isDeep ? 120_000 : 30_000,
    hookTimeout: isDeep ? 120_000 : 60_000,
    tags,
    // Files share a process, because loading SDKs and compilers takes half a second for each process.
    isolate: false,
    setupFiles: "test/support/clean-process.ts",
    projects: [
      project("together", ["test/**/*.test.ts"], 1, maxWorkers, [...replacing, ...chaotic, ...browsing, ...alone]),
      project("replacing", replacing, 1, maxWorkers, [], { isolate: true }),
      ...(isQuick
        ? []
        : [project("chaos", chaotic, 1, maxWorkers, [], { globalSetup: "test/support/bundled-functions.ts" })]),
      // A page may be late on a busy machine of the CI service, so its test is repeated once. Other tests are never
      // repeated.
      project("browser", browsing, 2, isDeep ? 3 : 5, alone, {
        retry: process.env.CI ? 1 : 0,
        testTimeout: isDeep ? 300_000 : 120_000,
      }),
      project("alone", alone, 3, 1),
    ],
  },
});

function project(
  name: string,
  include: string[],
  groupOrder: number,
  workers: number,
  exclude: string[] = [],
  more: object = {},
): TestProjectConfiguration {
  const excluded = [...configDefaults.exclude, ...skipped, ...exclude];
  return {
    extends: true,
    test: { name, include, exclude: excluded, maxWorkers: workers, sequence: { groupOrder }, ...more },
  };
}
