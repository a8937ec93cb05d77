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

/** Files without a test that this command runs: loading them would take time for nothing. */
const skipped = globSync("test/**/*.test.ts").filter((file) => {
  const text = readFileSync(file, "utf8");
  return isDeep ? !/@module-tag deep|tags: \["deep"\]/.test(text) : isQuick && text.includes("@module-tag deep");
});

/**
 * These files fill memory, process tables and the limits of a user, or count frames. Each runs without another file beside
 * it.
 */
const alone = [
  "test/e2b-local/limits.test.ts",
  "test/sandbox/python.test.ts",
  "test/e2e/bad-code.test.ts",
  "test/e2e/floods.test.ts",
  "test/console/speed.test.ts",
];

/** These files replace modules, which other files use if they share a process. */
const replacing = [
  "test/functions/{details,lambda,publish,retain,service-app,sweep}.test.ts",
  "test/functions/api/problem.test.ts",
  "test/local/cloud/bodies.test.ts",
  "test/workflow/inputs/within-time.test.ts",
  "test/workflow/source/open-inside.test.ts",
];

/** These files kill Lambdas, which are threads with the deployed functions in one bundle. */
const chaotic = ["test/e2e/*chaos.test.ts"];

/** These files wait for a browser most of their time, and for the server beside it. */
const browsing = ["test/console/*.test.ts"];

/** Vitest starts one worker on two processors by default, but a worker waits for Python and disks half of the time. */
const maxWorkers = Math.max(4, Math.ceil(availableParallelism() / 2));

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    tags,
    // SDKs and compilers take half a second to load. Files that share a process load them once.
    isolate: false,
    setupFiles: "test/support/clean-process.ts",
    projects: [
      project("together", ["test/**/*.test.ts"], 1, maxWorkers, [...replacing, ...chaotic, ...browsing, ...alone]),
      project("replacing", replacing, 1, maxWorkers, [], { isolate: true }),
      ...(isQuick
        ? []
        : [project("chaos", chaotic, 1, maxWorkers, [], { globalSetup: "test/support/bundled-functions.ts" })]),
      // A page may be late on a machine that stands still now and then. Random tests are never repeated.
      project("browser", browsing, 2, 5, alone, { retry: process.env.CI ? 1 : 0 }),
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
