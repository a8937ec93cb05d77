import { expect, it } from "vitest";
import { type Allowed, allowedBy } from "../support/iam.ts";
import { stacksOf } from "../support/stacks.ts";

async function allRoles(): Promise<Allowed> {
  const { templates } = await stacksOf("production");
  return Object.assign({}, ...Object.values(templates).map(allowedBy));
}

it("allows each role what was reviewed, and nothing else", async () => {
  const roles = Object.entries(await allRoles()).map(([role, lines]) => [role, ...lines.map((line) => `  ${line}`)]);
  await expect(`${roles.flat().join("\n")}\n`).toMatchFileSnapshot("allowed.txt");
});

it("allows no action by a wildcard", async () => {
  const lines = Object.values(await allRoles()).flat();
  expect(lines.filter((line) => /^[\w:]*\*/.test(line))).toEqual([]);
});

it("allows nobody to delete an item but tickets of queues, or to change one of a chain", async () => {
  const changes = Object.values(await allRoles())
    .flat()
    .filter((line) => /^dynamodb:(Delete|BatchWrite|PartiQL|Transact)/.test(line) || /UpdateItem.*C#/.test(line));
  expect(changes.filter((line) => line !== "dynamodb:DeleteItem on Table.Arn where pk is Q#*")).toEqual([]);
});

it("bounds every write into the table by the partitions that it may reach", async () => {
  const writes = Object.values(await allRoles())
    .flat()
    .filter((line) => /^dynamodb:(Put|Update)Item/.test(line));
  expect(writes.length).toBeGreaterThan(10);
  expect(writes.filter((line) => !/ where pk is [A-Z]#\*$/.test(line))).toEqual([]);
});
