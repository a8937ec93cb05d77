import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const nova = new URL("../../packages/cli/bin/nova.js", import.meta.url).pathname;

it("nova ends silently if the reader of its output is gone, as in nova run | head", async () => {
  const child = spawn(process.execPath, [nova, "--help"]);
  child.stdout.destroy();
  const [said] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(said).toBe("");
});
