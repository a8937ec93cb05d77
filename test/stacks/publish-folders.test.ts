import { beforeEach, describe, expect, it } from "vitest";
import { buildTemplates, type Nova, OutputMissing, publishFolders } from "../../stacks/publish-folders.ts";

const outputs = {
  "production-nova-storage": { Table: "nova-table", Bucket: "nova-bucket" },
  "production-nova-engine": {},
  "production-nova-api": { Url: "https://nova.example.com" },
};

/** The calls of `nova` so far, in order: the arguments and the environment variables of each call. */
let calls: [string, Record<string, string>][];
let publishes: boolean;

const nova: Nova = async (args, variables) => {
  calls.push([args.join(" "), variables]);
  if (args[0] === "keys" && args[1] === "create") return '{"id": "key_1", "key": "nova_1_secret"}\n';
  if (args[0] === "publish" && !publishes) throw new RangeError("it does not fit");
  return "";
};

beforeEach(() => {
  calls = [];
  publishes = true;
});

const created = ["keys create --role editor --name deployment --json", { NOVA_TABLE: "nova-table" }];
const published = ["publish mail batch", { NOVA_URL: "https://nova.example.com", NOVA_API_KEY: "nova_1_secret" }];
const deleted = ["keys delete key_1", { NOVA_TABLE: "nova-table" }];

describe("the workflow folders of a deployment", () => {
  it("are published through its API, in their order, with a temporary key", async () => {
    await publishFolders(nova, outputs, ["mail", "batch"]);
    expect(calls).toEqual([created, published, deleted]);
  });

  it("leave no key after a failure, and the deployment reports the reason", async () => {
    publishes = false;
    await expect(publishFolders(nova, outputs, ["mail", "batch"])).rejects.toThrow("it does not fit");
    expect(calls).toEqual([created, published, deleted]);
  });

  it("need no key if no folder is configured", async () => {
    await publishFolders(nova, {}, []);
    expect(calls).toEqual([]);
  });

  it.each([
    ["its table", { "production-nova-api": outputs["production-nova-api"] }, /stack "storage" has no output Table/],
    ["its address", { "production-nova-storage": outputs["production-nova-storage"] }, /"api" has no output Url/],
  ])("are not published if the deployment has no output for %s", async (_, found, message) => {
    const publishing = publishFolders(nova, found, ["mail"]);
    await expect(publishing).rejects.toThrow(message);
    await expect(publishing).rejects.toThrow(OutputMissing);
    expect(calls).toEqual([]);
  });
});

it("the deployment builds one after the other the templates that a folder requires and the account does not have", async () => {
  const calls: string[] = [];
  let working = 0;
  await buildTemplates(
    async (args) => {
      expect(working++).toBe(0);
      calls.push(args.join(" "));
      await Promise.resolve();
      working--;
      return "";
    },
    ["mail", "batch"],
  );
  expect(calls).toEqual(["template build mail --missing", "template build batch --missing"]);
});
