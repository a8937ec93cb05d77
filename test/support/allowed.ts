import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./imports.ts";

interface Line {
  action: string;
  resources: string[];
  partitions: string[];
}

/** The permissions of each role, by name of the role. Tests in test/stacks compare this file with the stacks. */
const allowed = readAllowed(readFileSync(join(root, "test/stacks/allowed.txt"), "utf8"));

function readAllowed(text: string): Map<string, Line[]> {
  const [, ...blocks] = `\n${text}`.split(/\n(?=\S)/);
  return new Map(
    blocks
      .map((block) => block.trimEnd().split("\n  "))
      .map(([role = "", ...lines]) => [role, lines.map(readLine)] as const),
  );
}

/** Parses a line such as `dynamodb:Query on Table.Arn where pk is C#* or E#*`. */
function readLine(line: string): Line {
  const [action = "", on = ""] = line.split(" on ");
  const [resources = "", partitions] = on.split(" where pk is ");
  return { action, resources: resources.split(" "), partitions: partitions?.split(" or ") ?? [] };
}

/**
 * Returns the calls that the function's role does not allow. If a call names no resource, it is enough that the role
 * allows the action on any resource.
 */
export function forbidden(functionName: string, calls: readonly string[]): string[] {
  const role = functionName === "nova-retain" ? "nova-erase" : functionName;
  const lines = allowed.get(`${role.replaceAll("-", "")}role`);
  if (!lines) throw new RangeError(`no role is known for ${functionName}`);
  return calls.filter((text) => {
    const call = readLine(text);
    return !lines.some((line) => isAllowed(line, call));
  });
}

function isAllowed(line: Line, { action, resources: [resource = ""], partitions: [partition] }: Line): boolean {
  return (
    line.action === action &&
    (resource === "" || line.resources.includes(resource)) &&
    (line.partitions.length === 0 || line.partitions.includes(partition ?? ""))
  );
}
