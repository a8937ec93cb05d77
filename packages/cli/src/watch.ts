import { watchFolders } from "./dev/watch-folders.ts";
import { type ExitCode, exitCodes } from "./errors.ts";
import type { Interrupt } from "./interrupt.ts";
import { explain } from "./output/explain.ts";
import { type CommandOutput, printError, printOutput, styled } from "./output/terminal.ts";

/** Calls `work` and prints its output. Repeats this after each change in the folder, until the user presses Ctrl-C. */
export async function repeatOnChange(
  folder: string,
  interrupt: Interrupt,
  work: () => Promise<CommandOutput>,
  isJson: true | undefined,
): Promise<ExitCode> {
  let changed = Promise.withResolvers<void>();
  using _ = await watchFolders([folder], () => changed.resolve());
  const ended = interrupt.requested().then(() => true);
  for (;;) {
    changed = Promise.withResolvers<void>();
    await work().then(
      (all) => printOutput(all, isJson),
      (error: unknown) => printError(`nova: ${explain(error).sentence}`),
    );
    if (!isJson) printError(styled("dim", "waiting for a change; Ctrl-C ends it"));
    if (await Promise.race([ended, changed.promise.then(() => false)])) return exitCodes.completed;
  }
}
