import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { RateLimitError, Sandbox } from "@e2b/code-interpreter";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder, nova, type Started, startNova } from "../support/nova.ts";

let folder: string;
let dev: Started;

beforeAll(async () => {
  folder = await newFolder();
  dev = startNova(folder, "dev", "--port", "0", "--smtp-port", "0", "--json", "--e2b-plan", "hobby");
  await dev.line("{");
});

afterAll(async () => {
  dev.child.kill("SIGINT");
  await dev.ended;
  await rm(folder, { recursive: true, force: true });
});

it("nova dev with the limits of an E2B plan answers a second sandbox within one second with 429, and E2B's SDK waits as long as the answer says", async () => {
  const [{ endpoints }, { e2bApiKey: apiKey }] = await Promise.all(["owner.json", "keys.json"].map(read));
  const connection = { apiKey, apiUrl: endpoints.e2bApi, sandboxUrl: endpoints.e2bSandbox };
  const create = (retries: number) => Sandbox.create("nova", { ...connection, retries });
  const attempts = await Promise.allSettled([create(0), create(0), create(0)]);
  const reasons = attempts.flatMap((attempt) => (attempt.status === "rejected" ? [attempt.reason] : []));
  expect(reasons).toContainEqual(expect.any(RateLimitError));
  expect(String(reasons[0])).toContain("Rate limit exceeded");
  const answers = await Promise.all([1, 2, 3].map(() => post(endpoints.e2bApi, apiKey)));
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await refused?.json()).toEqual({ code: 429, message: "Rate limit exceeded" });
  expect(await create(3)).toBeInstanceOf(Sandbox);
}, 60_000);

it("nova dev refuses an unknown plan of E2B in one sentence", async () => {
  expect(await nova(folder, "dev", "--e2b-plan", "gold")).toEqual({
    code: 2,
    stdout: "",
    stderr: "nova: --e2b-plan gold is not a plan of E2B - use one of none, hobby, pro\n",
  });
});

async function read(name: string) {
  return JSON.parse(await readFile(join(folder, ".nova", name), "utf8"));
}

function post(url: string, apiKey: string): Promise<Response> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  return fetch(`${url}/v2/sandboxes`, { method: "POST", headers, body: JSON.stringify({ templateID: "nova" }) });
}
