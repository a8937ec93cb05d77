import { Command, CommanderError } from "commander";
import about from "../package.json" with { type: "json" };
import { declare } from "./commands/command.ts";
import { commands } from "./commands/table.ts";
import { exitCodes } from "./errors.ts";
import { explain } from "./output/explain.ts";
import { printOutput, printWarnings, toTerminal } from "./output/terminal.ts";

/** Runs one command line (without `node` and the script) and ends the process with its exit code. */
export async function main(argv: string[]): Promise<never> {
  printWarnings();
  endWithoutReader();
  const code = await runCommandLine(argv);
  // Waits until the output is written, because the process ends next.
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(code);
}

/** Ends the command when the program that reads its output has ended, as in `nova run | head`. */
function endWithoutReader(): void {
  let isClosed = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!isClosed) process.kill(process.pid, "SIGTERM");
    isClosed = true;
  });
}

/** Runs one command line and returns its exit code. */
export async function runCommandLine(argv: string[]): Promise<number> {
  const { program, exitCode } = await programFor(argv[0]);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode();
  } catch (error) {
    // Commander has already printed the mistake in the command line, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.completed : exitCodes.invalid;
    const { sentence, code } = explain(error);
    const { maskCredentials } = await import("@nova/engine");
    process.stderr.write(`${toTerminal(`nova: ${maskCredentials(sentence)}`)}\n`);
    return code;
  }
}

async function programFor(name: string | undefined) {
  let code: number = exitCodes.completed;
  const program = new Command("nova")
    .description("Workflows of Python and AI, with a proof of every step")
    .version(about.version, "--version", "print the version")
    // Makes `--version` after the name of a command an option of that command.
    .enablePositionalOptions()
    .showHelpAfterError("(nova --help lists the commands)")
    .exitOverride();
  for (const [each, load] of Object.entries(commands)) {
    if (name !== undefined && Object.hasOwn(commands, name) && name !== each) continue;
    const described = await load();
    const command = program.command(each);
    declare(command, described);
    command.action(async () => {
      const options = command.opts<{ json: true | undefined }>();
      const done = (await described.run(command.processedArgs, options)) ?? exitCodes.completed;
      code = typeof done === "number" ? done : printOutput(done, options.json);
    });
  }
  return { program, exitCode: () => code };
}
