import type { Role } from "@nova/service";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { type KeyPlace, withKeys } from "../keys/key-place.ts";
import { tableLines } from "../output/table.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

const roles: readonly Role[] = ["viewer", "runner", "editor", "admin"];

interface Options {
  role?: string;
  client?: string;
  name?: string;
  json?: true;
}

export const keys: CliCommand = {
  declare: (command) =>
    command
      .summary("make, list and delete API keys; with NOVA_TABLE and AWS credentials, the first one of a deployment")
      .argument("<create|list|delete>", "what to do")
      .argument("[key_id]", "with delete: which one")
      .option("--role <role>", `with create: ${roles.join(", ")}; each may do what those before it may`)
      .option("--client <slug>", "with create: the one client that it reaches; absent: all of them")
      .option("--name <text>", "with create: whose it is")
      .option("--json", "print one JSON object"),

  async run([action = "", id], options: Options): Promise<ExitCode> {
    const json = options.json === true;
    if (action === "create") await withKeys((place) => create(place, options, json));
    else if (action === "list") await withKeys((place) => list(place, json));
    else if (action === "delete") await withKeys((place) => remove(place, id, json));
    else throw new InvalidInput(`nova keys cannot "${action}" - it can create, list and delete`);
    return exitCodes.completed;
  },
};

async function create(place: KeyPlace, { role, client, name }: Options, json: boolean): Promise<void> {
  const request = { ...(client !== undefined && { client }), ...(name !== undefined && { name }) };
  const made = await place.create({ role: readRole(role), ...request });
  if (json) print(JSON.stringify(made), true);
  else {
    print(made.key);
    printError(styled("dim", `this is the only time that ${made.id} is shown: keep it where keys are kept`));
  }
}

function readRole(text: string | undefined): Role {
  const role = roles.find((one) => one === text);
  if (role) return role;
  const what = text === undefined ? "nova keys create needs a role" : `there is no role "${text}"`;
  throw new InvalidInput(`${what} - use one of --role ${roles.join(", ")}`);
}

async function list(place: KeyPlace, json: boolean): Promise<void> {
  const items = await place.list();
  if (json) print(JSON.stringify({ items }), true);
  else if (items.length === 0) print("no keys - nova keys create --role admin makes one");
  else {
    const rows = items.map((key) => [key.id, key.role, key.client_slug ?? "all", key.name, key.created_at]);
    print(tableLines(["key", "role", "client", "name", "made"], rows).join("\n"));
  }
}

async function remove(place: KeyPlace, id: string | undefined, json: boolean): Promise<void> {
  if (id === undefined) throw new InvalidInput("nova keys delete needs the id of a key - nova keys list shows them");
  await place.remove(id);
  print(json ? JSON.stringify({ id, deleted: true }) : `${id} opens nothing any more`, json);
}
