import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseWorkflow } from "@nova/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readCalled, readDraft } from "../../../packages/cli/src/run/request.ts";
import { inARow } from "../../support/cloud.ts";

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-called-"));
  for (const place of ["here/sums", "elsewhere/secrets"]) {
    await mkdir(join(root, place), { recursive: true });
    const definition = inARow(place.split("/")[1] ?? "", { sum: "context['total'] = 1" });
    await writeFile(join(root, place, "workflow.json"), JSON.stringify(definition));
  }
  await symlink("../elsewhere/secrets", join(root, "here/secrets"));
  await symlink("sums", join(root, "here/same"));
});

afterAll(() => rm(root, { recursive: true }));

async function called(workflow: string) {
  const text = JSON.stringify(inARow("bills", { bill: { type: "workflow", workflow } }));
  const parsed = parseWorkflow({ text, fileName: "workflow.json", files: {} }).workflow;
  if (!parsed) throw new TypeError("bills is no workflow");
  await mkdir(join(root, "here/bills"), { recursive: true });
  await writeFile(join(root, "here/bills/workflow.json"), text);
  return readCalled(join(root, "here/bills"), parsed);
}

it("readCalled finds a called workflow next to its caller, and follows no link that leads out of the parent folder", async () => {
  expect((await called("sums")).places).toEqual([{ id: "sums", place: join(root, "here/sums") }]);
  await expect(called("same")).rejects.toThrow(/has the workflow "sums", not "same"/);
  await expect(called("secrets")).rejects.toThrow(
    /"secrets" is a link that leads out of the folder .* publish it first/,
  );
});

it("readCalled returns the code of all called workflows before a run starts, so that missing packages can be installed", async () => {
  await called("sums");
  const draft = await readDraft(join(root, "here/bills"), {
    context: undefined,
    set: [],
    file: [],
    node: undefined,
    frozen: undefined,
    fresh: [],
    client: undefined,
    reuse: undefined,
  });
  expect(draft.called.parsed.map(({ workflow }) => workflow?.id)).toEqual(["sums"]);
});
