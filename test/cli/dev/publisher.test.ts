import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { activateVersion } from "@nova/service";
import { afterEach, beforeEach, expect, it } from "vitest";
import { thisUser } from "../../../packages/cli/src/api/ask.ts";
import { type PublishOutcome, publisherOf } from "../../../packages/cli/src/dev/publisher.ts";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";

const api = useApi();
let root: string;
let told: PublishOutcome[];
let publish: ReturnType<typeof publisherOf>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-publisher-"));
  told = [];
  newPublisher();
});

/** Makes a publisher that has read no folder yet, as at the start of `nova dev`. */
function newPublisher(): void {
  const cloud = Object.assign(Object.create(api.cloud), { service: api.ports });
  publish = publisherOf(cloud, { text: "", principal: thisUser() }, (outcome) => told.push(outcome));
}

afterEach(() => rm(root, { recursive: true, force: true }));

async function write(folder: string, definition: object | string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true });
  const text = typeof definition === "string" ? definition : JSON.stringify(definition);
  await writeFile(join(root, folder, "workflow.json"), text);
}

/** Returns one short text for each report: `a 2` if `a` was published as version 2, and `a!` if `a` was refused. */
function summary(): string[] {
  return told.map((one) => {
    const name = one.folder.slice(root.length + 1);
    return "problem" in one ? `${name}!` : `${name} ${one.version}`;
  });
}

it("nova dev publishes every workflow folder of its root folder, and later only changed folders", async () => {
  await write("one", inARow("pub-one", { a: "x = 1" }));
  await write("two", inARow("pub-two", { a: "x = 1" }));
  await publish(root);
  expect(summary()).toEqual(["one 1", "two 1"]);
  await write("two", inARow("pub-two", { a: "x = 2" }));
  await publish(root);
  await publish(root);
  expect(summary()).toEqual(["one 1", "two 1", "two 2"]);
});

it("nova dev publishes called workflows before their callers, in any order of folders", async () => {
  await write("a-outer", inARow("pub-outer", { call: { type: "workflow", workflow: "pub-inner" } }));
  await write("b-inner", inARow("pub-inner", { a: "x = 1" }));
  await publish(root);
  expect(summary()).toEqual(["b-inner 1", "a-outer 1"]);
});

it("nova dev reports mistakes in a workflow folder, and keeps the published version in use", async () => {
  await write("bad", inARow("pub-bad", { a: "x = (" }));
  await write("calls", inARow("pub-calls", { call: { type: "workflow", workflow: "pub-nowhere" } }));
  await write("torn", "{");
  await publish(root);
  expect(summary().sort()).toEqual(["bad!", "calls!", "torn!"]);
  const codes = told.flatMap(({ findings }) => findings.map(({ code }) => code));
  expect(codes).toContain("NOVA419");
});

it("nova dev publishes a folder that is added while it publishes other folders", async () => {
  await write("one", inARow("pub-late", { a: "x = 1" }));
  const first = publish(root);
  await write("more", inARow("pub-later", { a: "x = 1" }));
  await Promise.all([first, publish(root)]);
  expect(summary()).toContain("more 1");
});

it("nova dev reports a folder that it cannot read", async () => {
  await expect(publish(join(root, "nothing"))).rejects.toThrow(/is not a folder - name one with workflow.json/);
});

it("nova dev does not publish two folders with one workflow id until one of the folders gets another id", async () => {
  await write("one", inARow("pub-twin", { a: "x = 1" }));
  await publish(join(root, "one"));
  await write("two", inARow("pub-twin", { a: "x = 2" }));
  await write("else", inARow("pub-else", { a: "x = 1" }));
  await publish(join(root, "two"), join(root, "else"));
  await write("one", inARow("pub-twin", { a: "x = 3" }));
  await publish(join(root, "one"));
  expect(summary()).toEqual(["one 1", "one!", "two!", "else 1"]);
  const problem = `folders "${join(root, "one")}" and "${join(root, "two")}" both make the workflow "pub-twin" - give one of them another id`;
  expect(told.slice(1, 3)).toMatchObject([{ problem }, { problem }]);
  await write("two", inARow("pub-other", { a: "x = 2" }));
  await publish(join(root, "two"));
  expect(summary().slice(4)).toEqual(["one 2", "two 1"]);
});

it("nova dev publishes a folder after another folder with the same workflow id is gone", async () => {
  const roots = [join(root, "one"), join(root, "two")];
  for (const name of ["one", "two"]) await write(name, inARow("pub-left", { a: `x = "${name}"` }));
  await publish(...roots);
  await rm(join(root, "one"), { recursive: true });
  await publish(join(root, "one"));
  expect(summary()).toEqual(["one!", "two!", "two 1"]);
});

it("nova dev publishes a folder once if the user names the folder twice", async () => {
  await write("one", inARow("pub-same", { a: "x = 1" }));
  await publish(root, join(root, "one"), `${root}/./one`);
  expect(told.map((one) => "problem" in one)).not.toContain(true);
});

it("nova dev publishes a change once if the changed folder is below two of its root folders", async () => {
  await write("one", inARow("pub-below", { a: "x = 1" }));
  await publish(root, join(root, "one"));
  await write("one", inARow("pub-below", { a: "x = 2" }));
  await publish(root);
  expect(summary()).toEqual(["one 1", "one 2"]);
});

it("nova dev keeps the older version that a user has activated until the folder changes", async () => {
  await write("one", inARow("pub-back", { a: "x = 1" }));
  await publish(root);
  await write("one", inARow("pub-back", { a: "x = 2" }));
  await publish(root);
  await activateVersion(api.ports, thisUser(), "pub-back", 1);
  newPublisher();
  await publish(root);
  expect(told.at(-1)).toMatchObject({ version: 2, created: false, isNew: false, active: 1 });
  await write("one", inARow("pub-back", { a: "x = 3" }));
  await publish(root);
  expect(told.at(-1)).toMatchObject({ version: 3, created: true, isNew: true, active: 3 });
});
