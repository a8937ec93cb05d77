import { execFileSync, spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../packages/cli/src/commands/table.ts";
import { newFolder, nova } from "./support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
});
afterAll(() => rm(cwd, { recursive: true }));

const isInstalled = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status === 0;

describe.each(["bash", "zsh", "fish"])("nova completion %s", (shell) => {
  it("names every command", async () => {
    const { code, stdout } = await nova(cwd, "completion", shell);
    expect(code).toBe(0);
    for (const name of Object.keys(commands)) expect(stdout).toContain(name);
  });

  it.runIf(isInstalled(shell))("prints a script that the shell accepts", async () => {
    const file = join(cwd, `completion.${shell}`);
    await writeFile(file, (await nova(cwd, "completion", shell)).stdout);
    expect(spawnSync(shell, ["-n", file], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });
});

const lines: [string, string][] = [
  ["nova va", "validate"],
  ["nova init --te", "--template"],
  ["nova session pub", "publish"],
  ["nova agent c", "compile"],
  ["nova agent compile --wri", "--write"],
  ["nova event p", "put"],
  ["nova template bu", "build"],
  ["nova analytics ai", "ai-cost"],
  ["nova restart --dry", "--dry-run"],
  ["nova validate pape", "papers"],
  ["nova lock pape", "papers"],
  ["nova lock appr", "approve"],
];

/**
 * Writes the completion script for a shell, and a file whose name the script may complete. Then runs the shell and
 * returns the lines that it prints.
 */
async function askShell(shell: string, args: string[]): Promise<string> {
  await writeFile(join(cwd, "script"), (await nova(cwd, "completion", shell)).stdout);
  await writeFile(join(cwd, "papers"), "");
  return execFileSync(shell, args, { cwd, encoding: "utf8", timeout: 20_000 }).trim();
}

describe("the completion of bash", () => {
  it.each(lines)("completes %s to %s", async (line, expected) => {
    const words = line.split(" ");
    const program = `source ./script; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _nova; echo "\${COMPREPLY[@]}"`;
    expect(await askShell("bash", ["-c", program])).toBe(expected);
  });
});

describe.runIf(isInstalled("fish"))("the completion of fish", () => {
  it.each(lines)("completes %s to %s", async (line, expected) => {
    const program = `source script; complete -C '${line}'`;
    expect((await askShell("fish", ["--no-config", "-c", program])).split("\t")[0]).toBe(expected);
  });
});

/** Types a line, Tab and Ctrl-X into a shell in a terminal. Ctrl-X prints the line that the shell has completed. */
const typing = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT=; autoload -Uz compinit; compinit -u -D; source ./script'
zpty -w shell 'show() { print -r -- "<$BUFFER>"; exit }; zle -N show; bindkey "^X" show; print READY'
zpty -r shell seen '*READY*READY*'
zpty -w -n shell "$1"$'\t\x18'
zpty -r shell seen '*<*>*'
print -r -- "\${\${seen##*<}%%>*}"`;

describe.runIf(isInstalled("zsh"))("the completion of zsh", () => {
  it.each(lines)("completes %s to %s in a terminal", async (line, expected) => {
    expect((await askShell("zsh", ["-fc", typing, "zsh", line])).split(" ").at(-1)).toBe(expected);
  });
});

it("nova completion refuses a shell that it does not know", async () => {
  const { code, stderr } = await nova(cwd, "completion", "tcsh");
  expect([code, stderr]).toEqual([2, expect.stringContaining("use one of bash, zsh, fish")]);
});
