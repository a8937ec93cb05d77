import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authenticate, createKey, deleteKey } from "@nova/service";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOwnKey } from "../../../packages/local/src/api/own-key.ts";
import { useApi } from "../../functions/api/support/api.ts";

const api = useApi();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-own-key-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function kept(): Promise<string> {
  return (await readFile(join(folder, "api-key"), "utf8")).trim();
}

describe("the API key of a data folder", () => {
  it("has the rights of an admin of all clients, and is stored in a file that only the user may read", async () => {
    const { text, principal } = await readOwnKey(folder, api.ports);
    expect(principal).toMatchObject({ role: "admin", client: null, name: "this machine" });
    expect(await authenticate(api.ports, text)).toEqual(principal);
    expect(await kept()).toBe(text);
    expect((await stat(join(folder, "api-key"))).mode & 0o777).toBe(0o600);
  });

  it("stays the same when the local cloud starts a second time", async () => {
    expect(await readOwnKey(folder, api.ports)).toEqual(await readOwnKey(folder, api.ports));
  });

  it("is replaced by a new key after its file was deleted", async () => {
    const { text, principal } = await readOwnKey(folder, api.ports);
    await deleteKey(api.ports, { ...principal, id: "key_other" }, principal.id);
    const { text: next } = await readOwnKey(folder, api.ports);
    expect(next).not.toBe(text);
    expect(await kept()).toBe(next);
  });

  it.each([
    ["no key", async () => "nonsense"],
    ["a key of a lower role", async () => lesser({ role: "viewer" as const })],
    ["a key for a single client", async () => lesser({ role: "admin" as const, client: "default" })],
  ])("is replaced by a new key if the file contains %s", async (_what, made) => {
    const text = await made();
    await writeFile(join(folder, "api-key"), `${text}\n`);
    const { principal } = await readOwnKey(folder, api.ports);
    expect(principal).toMatchObject({ role: "admin", client: null });
    expect(await kept()).not.toBe(text);
  });
});

async function lesser(request: Pick<Parameters<typeof createKey>[2], "role" | "client">): Promise<string> {
  const ulid = `01M8${Math.random().toString().slice(2).padEnd(22, "0").slice(0, 22)}`;
  return (await createKey(api.ports, null, { ulid, ...request })).text ?? "";
}
