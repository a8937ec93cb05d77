import { askApi } from "../api/ask.ts";
import { unlessMissing } from "../api/client.ts";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

interface Shown {
  slug: string;
  name: string;
  created_at: string;
}

export const clients: CliCommand = {
  declare: (command) =>
    command
      .summary("make, list and delete clients: for whom workflows run")
      .argument("<create|list|delete>", "what to do; delete erases what they said, and keeps what proves their runs")
      .argument("[slug]", "with create, delete: which one")
      .option("--name <text>", "with create: for people; absent: the slug")
      .option("--json", "print one JSON object"),

  async run([action = "", slug], { name, json }): Promise<ExitCode> {
    if (action === "list") return list(json === true);
    if (action !== "create" && action !== "delete")
      throw new InvalidInput(`nova clients cannot "${action}" - it can create, list and delete`);
    if (slug === undefined) throw new InvalidInput(`nova clients ${action} needs a slug, such as acme`);
    if (action === "delete") return remove(slug, json === true);
    return create({ slug, name: typeof name === "string" ? name : slug }, json === true);
  },
};

async function create(asked: { slug: string; name: string }, json: boolean): Promise<ExitCode> {
  const made = await askApi(({ clients }) => clients.create(asked));
  print(json ? JSON.stringify(itemOf(made)) : `client ${made.slug} is made`, json);
  return exitCodes.completed;
}

async function list(json: boolean): Promise<ExitCode> {
  const items = await askApi(({ clients }) => Array.fromAsync(clients.list()));
  if (json) print(JSON.stringify({ items: items.map(itemOf) }), true);
  else if (items.length === 0) print("no clients - nova clients create makes one");
  else {
    const rows = items.map(({ slug, name, created_at }) => [slug, name, created_at]);
    print(tableLines(["client", "name", "made"], rows).join("\n"));
  }
  return exitCodes.completed;
}

async function remove(slug: string, json: boolean): Promise<ExitCode> {
  const isErased = await askApi(async ({ clients }) => {
    await clients.delete(slug);
    return (await unlessMissing(clients.get(slug))) === null;
  });
  const what = isErased ? "is erased" : "is being erased, which takes some minutes";
  print(json ? JSON.stringify({ slug, deleted: true }) : `client ${slug} is deleted, and what it said ${what}`, json);
  return exitCodes.completed;
}

function itemOf({ slug, name, created_at }: Shown): Shown {
  return { slug, name, created_at };
}
