import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parameterName } from "../../stacks/access.ts";
import { erasable, partitions } from "../../stacks/grants.ts";
import { type Allowed, allowedBy, brief } from "../support/iam.ts";
import { root } from "../support/imports.ts";
import { stacksOf } from "../support/stacks.ts";

async function allRoles(): Promise<Allowed> {
  const { templates } = await stacksOf("production");
  return Object.assign({}, ...Object.values(templates).map(allowedBy));
}

it("the AWS role of a Lambda function has only its reviewed permissions", async () => {
  const roles = Object.entries(await allRoles()).map(([role, lines]) => [role, ...lines.map((line) => `  ${line}`)]);
  await expect(`${roles.flat().join("\n")}\n`).toMatchFileSnapshot("allowed.txt");
});

it("the AWS role of a Lambda function has no action with a wildcard", async () => {
  const lines = Object.values(await allRoles()).flat();
  expect(lines.filter((line) => /^[\w:]*\*/.test(line))).toEqual([]);
});

const rolesWith = (roles: Allowed, action: RegExp) =>
  Object.fromEntries(
    Object.entries(roles)
      .map(([role, lines]) => [role, lines.filter((line) => action.test(line))] as const)
      .filter(([, lines]) => lines.length > 0),
  );

it("only one AWS role may erase contents in chains, and no AWS role may delete an item of a chain", async () => {
  const roles = await allRoles();
  expect(Object.keys(rolesWith(roles, /UpdateItem.*[ (]C#/))).toEqual(["novaeraserole"]);
  expect(rolesWith(roles, /^dynamodb:(BatchWrite|PartiQL|Transact)|DeleteItem.*[ (]C#/)).toEqual({});
});

it("AWS roles may delete only tickets, ended tasks, leaves in a tree and records that people delete, and one role all records of a client", async () => {
  const deletes = rolesWith(await allRoles(), /^dynamodb:DeleteItem/);
  const others = Object.entries(deletes)
    .map(([role, lines]) => [role, lines.filter((line) => !/pk is (Q|WAKE|LEAF)#\*$/.test(line))] as const)
    .filter(([, lines]) => lines.length > 0);
  const of = (keys: string) => `dynamodb:DeleteItem on Table.Arn where pk is ${keys}`;
  expect(Object.fromEntries(others)).toEqual({
    novaapirole: [of("K#*"), of("S#*"), of("TRIGGER#*")],
    novapublishrole: [of("TRIGGER#*")],
    novaeraserole: [
      of(
        "LABEL#* or T#* or WAKE#* or S#* or CLIENT#* or K#* or G#* or DELIVERY#* or R#* or I#* or F#* or U#* or SESSION#* or M#*",
      ),
    ],
  });
});

it.each([
  ["publishes state machines", /^states:(Create|Update|Publish|DeleteStateMachineVersion)/, ["novapublishrole"]],
  ["deletes state machines (those of drafts)", /^states:DeleteStateMachine on/, ["novaeraserole"]],
  ["sends mail", /^ses:/, ["novanotifyrole"]],
  ["reads incoming mail", /GetObject on Bucket.Arn\/mail/, ["novareceivemailrole"]],
  ["deletes objects", /^s3:Delete/, ["novaeraserole"]],
  ["reads the whole table", /^dynamodb:Scan/, ["novaapirole", "novaeraserole"]],
  [
    "makes rules and schedules",
    /^(events:Put(Rule|Targets) on .*nova-\*|scheduler:)/,
    ["novaapirole", "novapublishrole"],
  ],
  ["passes a role to a service", /^iam:/, ["novaapirole", "novapublishrole"]],
  ["makes keys of the API", /PutItem.* K#/, ["novaapirole"]],
])("no AWS role except the reviewed roles %s", async (_, action, roles) => {
  expect(Object.keys(rolesWith(await allRoles(), action)).toSorted()).toEqual(roles);
});

it("an AWS role may be passed to Step Functions or to Scheduler, but never to both", async () => {
  const { templates } = await stacksOf("production");
  const passing = Object.values(templates)
    .flatMap((template) => Object.values(template.findResources("AWS::IAM::Policy")))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => Action === "iam:PassRole")
    .map(({ Resource, Condition }) => [brief(Resource).split("/").at(-1), Condition.StringEquals]);
  const schedules = ["nova-schedules-us-east-1", { "iam:PassedToService": "scheduler.amazonaws.com" }];
  const machines = ["nova-machines-us-east-1", { "iam:PassedToService": "states.amazonaws.com" }];
  expect(passing.toSorted()).toEqual([machines, schedules, schedules]);
});

it.each([
  [
    "a role encrypts credentials only with their name in the encryption context",
    /^kms:GenerateDataKey/,
    "kms:EncryptionContextKeys ForAnyValue:StringEquals name",
  ],
  [
    "a role gives rules of triggers only one target, the function that starts runs",
    /^events:PutTargets on .*rule\/nova-\*/,
    "events:TargetArn ForAllValues:ArnEquals arn:aws:lambda:us-east-1:123456789012:function:nova-fire-trigger:live",
  ],
])("the policies of the AWS roles say that %s", async (_, action, condition) => {
  const lines = Object.values(rolesWith(await allRoles(), action)).flat();
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => !line.endsWith(` where ${condition}`))).toEqual([]);
});

it("the vault's key is used only for tasks and credentials, and only by the AWS roles that need it", async () => {
  const uses = rolesWith(await allRoles(), /^kms:\w+ on .*VaultKey/);
  const context = "where kms:EncryptionContextKeys ForAnyValue:StringEquals";
  expect(
    Object.values(uses)
      .flat()
      .filter((line) => !/(name|task)$/.test(line.split(`${context} `)[1] ?? "")),
  ).toEqual([]);
  const tasks = Object.entries(uses).filter(([, lines]) => lines.some((line) => line.endsWith(`${context} task`)));
  expect(tasks.map(([role]) => role).toSorted()).toEqual([
    "novaapirole",
    "novadelivereventrole",
    "novarequestapprovalrole",
    "novasweeprole",
  ]);
  // The function that delivers events can decrypt task tokens, but no credentials. The function that requests approvals
  // encrypts task tokens.
  expect(uses.novadelivereventrole).toEqual([`kms:Decrypt on VaultKey.Arn ${context} task`]);
  expect(uses.novarequestapprovalrole).toContain(`kms:Encrypt on VaultKey.Arn ${context} task`);
});

it("every write into the table is limited to the partitions that the AWS role of the function may reach", async () => {
  const writes = Object.values(await allRoles())
    .flat()
    .filter((line) => /^dynamodb:(Put|Update)Item/.test(line));
  expect(writes.length).toBeGreaterThan(10);
  expect(writes.filter((line) => !/ where pk is ([A-Z]+#\*|A|ROOT or STAMP|DAILYCHECK)$/.test(line))).toEqual([]);
});

it("the name of a parameter with a key contains the stage, so that each stage has separate keys", () => {
  expect(parameterName("production", "E2B_API_KEY")).toBe("/nova/production/E2B_API_KEY");
  expect(parameterName("ada", "E2B_API_KEY")).toBe("/nova/ada/E2B_API_KEY");
});

/**
 * The kinds of records in packages/aws: the file and the partition of each kind, and whether its records name a client.
 */
const entities = globSync("packages/aws/src/dynamodb/**/*.ts", { cwd: root }).flatMap((file) => {
  const source = readFileSync(join(root, file), "utf8");
  return Array.from(
    source.matchAll(/= (?:db\.)?record\(\s*"[\w-]+",(.*?)tableKeys\("([^"{]*)/gs),
    ([, attributes = "", prefix = ""]) => ({
      file,
      pattern: prefix.endsWith("#") ? `${prefix}*` : prefix,
      isOfClient: /\b(client|owner): |"(client|owner)"/.test(attributes),
    }),
  );
});

/** The partitions that stay when a client is erased: the records of its executions, and the audit log. */
const staying = ["E#*", "A"];

describe("the list of the table's partitions", () => {
  it.each(entities)("names the partition of $file", ({ pattern }) => {
    expect(Object.values(partitions).flat()).toContain(pattern);
  });

  it("has unique prefixes", () => {
    const prefixes = Object.values(partitions)
      .flat()
      .map((pattern) => pattern.replace("*", ""));
    const confused = prefixes.filter((one) =>
      prefixes.some((other) => other !== one && other.startsWith(one) && one.endsWith("#")),
    );
    expect(confused).toEqual([]);
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });

  it("allows the eraser to delete every record that belongs to a client, but no chain", () => {
    const named = entities.filter(({ isOfClient }) => isOfClient).map(({ pattern }) => pattern);
    expect(named.length).toBeGreaterThan(5);
    expect(new Set(named.filter((pattern) => !erasable.includes(pattern)))).toEqual(new Set(staying));
    expect(erasable).not.toContain("C#*");
  });
});

it.each(["production", "ada"] as const)(
  "every finding of the AwsSolutions rules on the stage %s has an explanation",
  async (stage) => {
    const { findings } = await stacksOf(stage);
    expect(findings).toEqual([]);
  },
);
