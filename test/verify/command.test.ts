import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommandLine } from "../../packages/cli/src/main.ts";
import { main } from "../../packages/verify/tools/main.ts";
import { nova } from "../cli/support/nova.ts";
import { Terminal } from "../cli/support/terminal.ts";
import { makeAuthority } from "../support/tsa/authority.ts";
import { addRoot } from "./support/add-root.ts";
import { keySet, makeProof, sha256 } from "./support/make-proof.ts";
import { Choices } from "./support/random.ts";

const programs = {
  "nova-verify-proof": [fileURLToPath(new URL("../../packages/verify/bin/nova-verify-proof.js", import.meta.url))],
  "nova verify --offline": [
    fileURLToPath(new URL("../../packages/cli/bin/nova.js", import.meta.url)),
    ...["verify", "--offline"],
  ],
};

/** Runs a program in this process, because a process of its own takes half a second to load. */
async function run(program: keyof typeof programs, ...args: string[]) {
  const terminal = new Terminal();
  process.chdir(folder);
  const words = program === "nova-verify-proof" ? [] : program.split(" ").slice(1);
  const code = await terminal.run(() => (words.length === 0 ? main(args) : runCommandLine([...words, ...args])));
  return { code, out: terminal.stdout, err: terminal.stderr };
}

/** Runs a program as a process without any environment variable. */
function spawnProgram(program: keyof typeof programs, ...args: string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [...programs[program], ...args], { cwd: folder, env: {} }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

let folder: string;
const proof = makeProof(new Choices(7), 20);
addRoot(proof, new Choices(7));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-verify-"));
  await using authority = await makeAuthority();
  await using other = await makeAuthority();
  const token = await authority.stamp(Buffer.from(sha256(proof.root.text), "hex"));
  proof.stamp = { token: token.toString("base64") };
  const changed = structuredClone(proof);
  changed.runs[0].scopes[0].entries[1].head += " ";
  const files = {
    "good.json": JSON.stringify(proof),
    "changed.json": JSON.stringify(changed),
    "keys.json": JSON.stringify(keySet),
    "few.json": JSON.stringify({ keys: [] }),
    "ca.pem": authority.ca,
    "other.pem": other.ca,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(Object.keys(programs) as (keyof typeof programs)[])("%s", (program) => {
  it("accepts a valid proof with exit code 0, in an empty environment", async () => {
    const { code, out, err } = await spawnProgram(program, "good.json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`${proof.execution} is valid: `);
    expect(out).toContain(
      "from the file itself, so anyone can have made it - compare them with /.well-known/nova-keys.json",
    );
    const all = await run(program, "good.json", "--keys", "keys.json", "--tsa-ca", "ca.pem", "--json");
    expect(JSON.parse(all.out)).toMatchObject({
      ...{ state: "valid", execution: proof.execution, keys: "given", stamp: { trusted: true } },
      root: { number: JSON.parse(proof.root.text).number, at: JSON.parse(proof.root.text).at },
    });
  });

  it.each([
    [["changed.json"], "prev", "does not name the hash of the entry before it"],
    [["good.json", "--keys", "few.json"], "key", "a key that is not in the key set"],
    [["good.json", "--tsa-ca", "other.pem"], "stamp", "does not lead to the given authority"],
    [["keys.json"], "file", "not a proof"],
  ])("refuses %j with exit code 1, and says %s in one sentence", async (args, problem, sentence) => {
    const { code, out } = await run(program, ...args);
    expect(code).toBe(1);
    expect(out).toContain(sentence);
    expect(out.trim().split("\n")).toHaveLength(1);
    const json = JSON.parse((await run(program, ...args, "--json")).out);
    expect(json).toMatchObject({ state: "broken", covers: [], problem: { code: problem } });
    expect(json.problem.message).toContain(sentence);
  });

  it.each([
    [["gone.json"], "there is no file gone.json"],
    [["good.json", "--keys", "gone.json"], "there is no file gone.json"],
    [["good.json", "--keys", "good.json"], "a trusted file cannot be used"],
    [["good.json", "--tsa-ca", "keys.json"], "no valid certificate in PEM"],
    [["good.json", "--what"], "--what"],
    [[], program === "nova-verify-proof" ? "it takes one proof file" : "argument missing"],
  ])("refuses the wrong arguments %j with exit code 2 and one sentence", async (args, sentence) => {
    const { code, err } = await run(program, ...args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(sentence) });
  });
});

describe("nova verify", () => {
  it("refuses a proof file together with a run, and keys without a proof file", async () => {
    const both = await nova(folder, "verify", "exec_1", "--offline", "good.json");
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("leave out") });
    const keys = await nova(folder, "verify", "--keys", "keys.json");
    expect(keys).toMatchObject({ code: 2, stderr: expect.stringContaining("--offline") });
  });
});
