import type { Command } from "commander";
import type { ExitCode } from "../errors.ts";

/** One command of `nova`: how it is written, and what it does. */
export interface CliCommand {
  /** Adds arguments and options to a command that has its name. */
  declare(command: Command): void;
  /** `args` as declared, then the options as one object. */
  run(args: string[], options: Record<string, unknown>): Promise<ExitCode>;
}
