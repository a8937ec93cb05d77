import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder, nova, type Started, startNova, writeChain } from "./support/nova.ts";

let cwd: string;
let owner: Started;

beforeAll(async () => {
  cwd = await newFolder();
  await nova(cwd, "init", "hello");
  await writeChain(cwd, "measure", { measure: "context['size'] = len(context['pdf']); print('measured')" });
  await writeChain(cwd, "broken", { fine: "context['a'] = 1", bad: "print('so far'); context['b'] = 1 / 0" });
  owner = startNova(cwd, "local", "--json");
  await owner.line("AWS_ENDPOINT_URL_DYNAMODB");
});

afterAll(async () => {
  owner.child.kill("SIGINT");
  expect(await owner.ended).toMatchObject({ code: 0 });
  await rm(cwd, { recursive: true });
});

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, "run", ...args, "--json");
  expect(stdout.split("\n"), stderr).toHaveLength(2);
  return { code, text: stdout, result: JSON.parse(stdout) };
}

describe("nova run", { timeout: 60_000 }, () => {
  it("with --json prints the run as one JSON object, with exact digits", async () => {
    await writeFile(join(cwd, "exact.json"), '{"id": 12345678901234567890, "total": 850.0}');
    const { code, text, result } = await runJson("hello", "--context", "exact.json", "--set", 'name="Adalbert"');
    expect(text).toContain('"id":12345678901234567890,"total":850.0,"name":"Adalbert"');
    expect({ code, ...result }).toMatchObject({
      code: 0,
      execution_id: expect.stringMatching(/^exec_[0-9A-Z]{26}$/),
      workflow: "hello",
      version: 1,
      status: "completed",
      error: null,
      path: ["start", "greet", "is_long", "shout", "end"],
      stats: { duration_ms: expect.any(Number), nodes: 3, aws_calls: { s3: 0, states: 1 } },
    });
    expect(result.context.said).toBe("HELLO, ADALBERT!");
    const { aws_calls, sandbox_calls, bytes_stored } = result.stats;
    expect(Math.min(aws_calls.dynamodb, sandbox_calls, bytes_stored)).toBeGreaterThan(0);
  });

  it("stores the bytes of a file once, and prints a reference to them", async () => {
    await writeFile(join(cwd, "big.bin"), randomBytes(3_000_000));
    const { result } = await runJson("measure", "--file", "pdf=big.bin");
    expect(result.context).toEqual({
      pdf: { $blob: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 3_000_000, type: "bytes" } },
      size: 3_000_000,
    });
    expect(result.stats.bytes_stored).toBeGreaterThan(3_000_000);
    expect(result.stats.bytes_stored).toBeLessThan(3_100_000);
  });

  it("refuses a context that names an unknown upload, as the API does", async () => {
    const { code, stderr } = await nova(cwd, "run", "hello", "--set", 'f={"$upload":"upl_nope"}');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'nova: there is no upload "upl_nope" - send a file with --file key=path\n',
    });
  });

  it("names the failed node and the reason, and exits with 1", async () => {
    const { code, result } = await runJson("broken");
    expect({ code, ...result }).toMatchObject({
      code: 1,
      status: "failed",
      path: ["start", "fine", "bad"],
      context: { a: 1 },
      error: { node: "bad", class: "NodeFailed", message: expect.stringContaining("division by zero") },
    });
    const { stdout } = await nova(cwd, "trace", result.execution_id, "--full");
    for (const part of ["1 / 0", "so far", "ZeroDivisionError"]) expect(stdout).toContain(part);
  });

  it("with --node runs one node alone on the given context", async () => {
    const { result } = await runJson("hello", "--node", "shout", "--set", 'greeting="Psst"');
    expect(result).toMatchObject({ workflow: "hello--shout", path: ["start", "shout", "end"] });
    expect(result.context.said).toBe("PSST");
  });

  it("prints the events while the run is in progress", async () => {
    const { code, stdout } = await nova(cwd, "run", "hello");
    expect(code).toBe(0);
    for (const part of ["✓ greet", "completed", "start → greet", "nova trace exec_"]) expect(stdout).toContain(part);
  });

  it("cancels the run at Ctrl-C, prints that the run is cancelled, and exits with 130", async () => {
    await writeChain(cwd, "slow", { nap: "import time; time.sleep(50)" });
    const run = startNova(cwd, "run", "slow");
    await run.line("nap");
    run.child.kill("SIGINT");
    const { code, stdout } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: expect.stringContaining("cancelled slow version 1") });
  });
});

describe("an execution at the command line", { timeout: 60_000 }, () => {
  it("can be traced, verified and listed after its end, but not cancelled", async () => {
    const { result } = await runJson("hello", "--set", 'name="Bo"');
    const id = result.execution_id;
    const [trace, verify, list, cancel] = await Promise.all([
      nova(cwd, "trace", id, "--json"),
      nova(cwd, "verify", id, "--json"),
      nova(cwd, "executions", "--workflow", "hello", "--status", "failed,completed", "--json"),
      nova(cwd, "cancel", id, "--json"),
    ]);
    const { entries, path, status } = JSON.parse(trace.stdout);
    expect({ path, status }).toEqual({ path: result.path, status: "completed" });
    expect(entries.map((entry: { node_id: string }) => entry.node_id)).toEqual([...path, "(close)"]);
    expect(JSON.parse(verify.stdout)).toMatchObject({ execution_id: id, state: "anchored", problem: null });
    expect(verify.code).toBe(0);
    expect(JSON.parse(list.stdout).items).toContainEqual({
      execution_id: id,
      workflow: "hello",
      version: 1,
      client: "default",
      status: "completed",
      labels: {},
      started_at: expect.stringMatching(/^\d{4}-/),
      duration_ms: expect.any(Number),
    });
    expect(JSON.parse(cancel.stdout)).toEqual({ execution_id: id, status: "completed" });
    const erase = await nova(cwd, "erase", id, "--json");
    expect(JSON.parse(erase.stdout)).toEqual({ execution_id: id, erased: [id] });
    expect((await nova(cwd, "verify", id)).stdout).toMatch(/^anchored .*\nentry 0: context was erased/);
  });

  it.each(["trace", "verify", "cancel", "erase"])(
    "that does not exist is refused in one sentence by nova %s",
    async (command) => {
      const { code, stdout, stderr } = await nova(cwd, command, "exec_none");
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toBe(`nova: there is no execution "exec_none" - \`nova executions\` lists them\n`);
    },
  );
});

describe("nova local", () => {
  it("prints environment variables with which any AWS client can use the local cloud", async () => {
    const variables = JSON.parse(await owner.line("{"));
    const credentials = { accessKeyId: variables.AWS_ACCESS_KEY_ID, secretAccessKey: variables.AWS_SECRET_ACCESS_KEY };
    const endpoint = variables.AWS_ENDPOINT_URL_DYNAMODB;
    const client = new DynamoDBClient({ region: variables.AWS_REGION, endpoint, credentials });
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual([variables.NOVA_TABLE]);
  });
});
