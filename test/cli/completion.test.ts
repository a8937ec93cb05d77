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

describe("the completion of bash", () => {
  it.each([
    ["nova va", "validate"],
    ["nova init --te", "--template"],
    ["nova session pub", "publish"],
    ["nova restart --dry", "--dry-run"],
  ])("completes %s to %s", async (line, expected) => {
    await writeFile(join(cwd, "c.sh"), (await nova(cwd, "completion", "bash")).stdout);
    const words = line.split(" ");
    const script = `source c.sh; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _nova; echo "\${COMPREPLY[@]}"`;
    expect(execFileSync("bash", ["-c", script], { cwd, encoding: "utf8" }).trim()).toBe(expected);
  });
});

describe.runIf(isInstalled("fish"))("the completion of fish", () => {
  it.each([
    ["nova va", /^validate\t/],
    ["nova init --te", /^--template\t/],
    ["nova session pub", /^publish$/],
    ["nova restart --dry", /^--dry-run\t/],
  ])("completes %s", async (line, expected) => {
    await writeFile(join(cwd, "c.fish"), (await nova(cwd, "completion", "fish")).stdout);
    const script = `source c.fish; complete -C '${line}'`;
    expect(execFileSync("fish", ["--no-config", "-c", script], { cwd, encoding: "utf8" }).trim()).toMatch(expected);
  });
});

describe.runIf(isInstalled("zsh"))("the completion of zsh", () => {
  it("is registered for nova", async () => {
    await writeFile(join(cwd, "c.zsh"), (await nova(cwd, "completion", "zsh")).stdout);
    const script = "autoload -Uz compinit; compinit -u -D; source c.zsh; print -r -- $_comps[nova]";
    expect(execFileSync("zsh", ["-fc", script], { cwd, encoding: "utf8" }).trim()).toBe("_nova");
  });
});

it("nova completion refuses a shell that it does not know", async () => {
  const { code, stderr } = await nova(cwd, "completion", "tcsh");
  expect([code, stderr]).toEqual([2, expect.stringContaining("use one of bash, zsh, fish")]);
});
