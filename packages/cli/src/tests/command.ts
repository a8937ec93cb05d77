import { writeFile } from "node:fs/promises";
import { watchFolders } from "../dev/watch-folders.ts";
import { type ExitCode, exitCodes, throwInvalid } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { explain } from "../output/explain.ts";
import { type CommandOutput, printError, printOutput, styled } from "../output/terminal.ts";
import { readTestFolder, type TestFolder } from "./folder.ts";
import { junitText } from "./junit.ts";
import { testOutput } from "./report.ts";
import { runTests } from "./run-tests.ts";
import { TestCloud } from "./test-cloud.ts";

export interface TestOptions {
  update: boolean;
  /** The path of the JUnit XML file. */
  junit: string | undefined;
}

/** Runs the tests of a workflow once. */
export async function testFolder(path: string, options: TestOptions): Promise<CommandOutput> {
  const folder = await readTestFolder(path);
  const interrupt = new Interrupt();
  const cloud = await TestCloud.open();
  try {
    const running = testIn(cloud, path, options, folder);
    const stopped = interrupt
      .requested()
      .then(() => ({ ...testOutput([]), text: "interrupted", code: exitCodes.interrupted }));
    running.catch(() => undefined);
    return await Promise.race([running, stopped]);
  } finally {
    await cloud.close();
  }
}

async function testIn(
  cloud: TestCloud,
  path: string,
  { update, junit }: TestOptions,
  known?: TestFolder,
): Promise<CommandOutput> {
  const folder = known ?? (await readTestFolder(path));
  const items = await runTests(cloud, folder, { update });
  if (junit !== undefined)
    await writeFile(junit, junitText(folder.workflow.id, items)).catch(
      throwInvalid(`"${junit}" cannot be written - name another file`),
    );
  return testOutput(items);
}

/** Runs the tests again after every change in the folder, until Ctrl-C. */
export async function watchTests(path: string, options: TestOptions & { json: boolean }): Promise<ExitCode> {
  const interrupt = new Interrupt();
  const { folder } = await readTestFolder(path);
  const cloud = await TestCloud.open();
  let changed = Promise.withResolvers<void>();
  try {
    using _ = await watchFolders([folder], () => changed.resolve());
    const ended = interrupt.requested().then(() => true);
    for (;;) {
      changed = Promise.withResolvers<void>();
      await testIn(cloud, path, options).then(
        (all) => printOutput(all, options.json),
        (error: unknown) => printError(`nova: ${explain(error).sentence}`),
      );
      if (!options.json) printError(styled("dim", "waiting for a change; Ctrl-C ends it"));
      if (await Promise.race([ended, changed.promise.then(() => false)])) return exitCodes.completed;
    }
  } finally {
    await cloud.close();
  }
}
