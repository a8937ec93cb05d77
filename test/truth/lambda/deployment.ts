import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../support/imports.ts";
import type { Statement } from "../access/policy.ts";
import { tablePolicy } from "../access/table-policy.ts";

/** A deployed function. */
export interface DeployedFunction {
  name: string;
  role: string;
  environment: Record<string, string>;
  /** The path of the module with the handler. Its folder contains only this function's bundle. */
  file: string;
  /** Name of the exported handler. */
  handler: string;
  timeoutSeconds: number;
}

export interface Deployment {
  functions: DeployedFunction[];
  /** The policy statements of each role, by ARN. */
  roles: Record<string, Statement[]>;
  /** The statements in the resource policy of the table. */
  ofTable: Statement[];
}

/** The output of moto/deployed.py. */
interface Read {
  functions: Pick<DeployedFunction, "name" | "role" | "environment">[];
  roles: Deployment["roles"];
}

interface Template {
  Resources: Record<string, { Type: string; Properties: Code }>;
}

interface Code {
  FunctionName: string;
  Handler: string;
  Timeout: number;
  Code: { S3Key: string };
}

const assembly = join(root, ".sst/dist");

/**
 * Copies each bundle into its own folder. No node_modules is above that folder, so the bundle can load only its own
 * files.
 */
export async function unpack(deployed: string, folder: string): Promise<Deployment> {
  const { functions, roles } = JSON.parse(deployed) as Read;
  const codes = new Map(codesIn(assembly).map((code) => [code.FunctionName, code]));
  const unpacked = functions.map(async (one) => {
    const code = codes.get(one.name);
    if (!code) throw new RangeError(`${one.name} was deployed, but no template of ${assembly} has it`);
    const own = join(folder, one.name);
    await cp(join(assembly, `asset.${code.Code.S3Key.replace(/\.zip$/, "")}`), own, { recursive: true });
    const [, path = "", handler = ""] = /^(.*)\.([^.]*)$/.exec(code.Handler) ?? [];
    const file = [".mjs", ".js"].map((end) => join(own, path + end)).find(existsSync);
    if (!file) throw new RangeError(`${one.name} has no file for its handler ${code.Handler}`);
    return { ...one, file, handler, timeoutSeconds: code.Timeout };
  });
  const ofTable = tablePolicy(join(assembly, "production-nova-storage.template.json"));
  return { functions: await Promise.all(unpacked), roles, ofTable };
}

function codesIn(folder: string): Code[] {
  const templates = readdirSync(folder).filter((name) => name.endsWith(".template.json"));
  return templates.flatMap((name) => {
    const { Resources } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Template;
    return Object.values(Resources).flatMap(({ Type, Properties }) =>
      Type === "AWS::Lambda::Function" ? [Properties] : [],
    );
  });
}
