import { afterEach, expect, it, vi } from "vitest";
import { withKeys } from "../../../packages/cli/src/commands/access.ts";
import { useApi } from "../../functions/api/support/api.ts";

const api = useApi();

afterEach(() => {
  vi.unstubAllEnvs();
});

it("withKeys makes the first API key of a deployment directly in the deployment's table", async () => {
  vi.stubEnv("NOVA_TABLE", "nova");
  const made = await withKeys((keys) => keys.create({ role: "admin", name: "first" }));
  expect(made).toMatchObject({ role: "admin", client_slug: null, name: "first", created_by: null });
  const { status, body } = await api.call("GET /keys", { key: made.key });
  expect(status).toBe(200);
  const { key: _, ...shown } = made;
  expect(body.items).toContainEqual(shown);
});

it("withKeys lists and deletes API keys of the deployment's table", async () => {
  vi.stubEnv("NOVA_TABLE", "nova");
  const { id, key } = await withKeys((keys) => keys.create({ role: "viewer" }));
  expect((await withKeys((keys) => Array.fromAsync(keys.list()))).map((one) => one.id)).toContain(id);
  await withKeys((keys) => keys.delete(id));
  expect(await api.call("GET /executions", { key })).toMatchObject({ status: 401 });
  await expect(withKeys((keys) => keys.delete(id))).rejects.toThrow(`there is no key "${id}" - GET /keys lists them`);
});

it.each([
  ["the table if the variable NOVA_DATA_DIR is empty", { NOVA_TABLE: "nova", NOVA_DATA_DIR: "" }],
  ["this machine if the variable NOVA_TABLE is empty", { NOVA_TABLE: "" }],
  ["this machine if a data folder is named", { NOVA_TABLE: "elsewhere" }],
])("withKeys uses the keys of %s", async (_what, variables) => {
  for (const [name, value] of Object.entries({ NOVA_DATA_DIR: api.cloud.dataDir, ...variables }))
    vi.stubEnv(name, value);
  const { id } = await withKeys((keys) => keys.create({ role: "viewer" }));
  expect((await api.call(`GET /keys`)).body.items).toContainEqual(expect.objectContaining({ id }));
});

it("withKeys names the environment variable if the table that it names does not exist", async () => {
  vi.stubEnv("NOVA_TABLE", "elsewhere");
  await expect(withKeys((keys) => Array.fromAsync(keys.list()))).rejects.toThrow(
    /there is no table "elsewhere" in .* NOVA_TABLE/,
  );
});

it("withKeys makes no API key for an unknown client", async () => {
  vi.stubEnv("NOVA_TABLE", "nova");
  const making = withKeys((keys) => keys.create({ role: "viewer", client_slug: "nobody" }));
  await expect(making).rejects.toThrow('there is no client "nobody"');
});
