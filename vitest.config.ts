import { availableParallelism } from "node:os";
import { configDefaults, defineConfig, type TestProjectConfiguration } from "vitest/config";

/**
 * They fill memory, process tables and processors on purpose, or end processes by the clock: none runs beside another,
 * nor beside anything that waits. Each has a processor, and tests that only compute have the other one.
 */
const alone = {
  "test/e2b-local/limits.test.ts": ["test/engine/model.test.ts", "test/agents/**/*.test.ts"],
  "test/sandbox/python.test.ts": ["test/stacks/*.test.ts", "test/functions/*bundle.test.ts"],
  "test/e2e/bad-code.test.ts": ["test/compiler/**/*.test.ts", "test/python/**/*.test.ts"],
  // The browser has processes of its own, which need both processors: frames are counted.
  "test/console/speed.test.ts": [],
};

/** They replace modules, which others have in use where a process is shared. */
const replacing = [
  "test/functions/{details,lambda,node-pipeline,publish,retain,secrets,service-app,sweep}.test.ts",
  "test/functions/api/problem.test.ts",
  "test/local/cloud/bodies.test.ts",
  "test/workflow/inputs/within-time.test.ts",
  "test/workflow/source/open-inside.test.ts",
];

/** Lambdas in threads that are killed: they load the functions as they are deployed, in one bundle. */
const chaotic = ["test/e2e/*chaos.test.ts"];

/** A browser beside a server: each such file waits for the other most of its time. */
const browsing = ["test/console/*.test.ts"];

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
      project("together", ["test/**/*.test.ts"], 1, beside, {
        exclude: [
          ...configDefaults.exclude,
          ...[...replacing, ...chaotic, ...browsing],
          ...Object.entries(alone).flatMap(([file, computing]) => [file, ...computing]),
        ],
      }),
      project("replacing", replacing, 1, beside, { isolate: true }),
      project("chaos", chaotic, 1, beside, { globalSetup: "test/support/bundled-functions.ts" }),
      project("browser", browsing, 2, 5, {
        exclude: [...configDefaults.exclude, ...Object.keys(alone)],
        // A page may come too late on a machine that stands still now and then. What plays at random is never tried again.
        retry: process.env.CI ? 1 : 0,
      }),
      ...Object.entries(alone).flatMap(([file, computing], place) => [
        project(`alone ${place + 1}`, [file], 3 + place, 2),
        ...(computing.length > 0 ? [project(`computing ${place + 1}`, computing, 3 + place, 2)] : []),
      ]),
    ],
  },
});

function project(
  name: string,
  include: string[],
  groupOrder: number,
  maxWorkers: number,
  more: object = {},
): TestProjectConfiguration {
  return { extends: true, test: { name, include, maxWorkers, sequence: { groupOrder }, ...more } };
}
