import type { Role } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { InvalidInput } from "../errors.ts";
import { withKeys } from "../keys/key-place.ts";
import { told } from "../output/table.ts";
import { printError, styled } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

const roles: readonly Role[] = ["viewer", "runner", "editor", "admin"];

export const keys = command({
  summary: "make, list and delete API keys; with NOVA_TABLE and AWS credentials, the first one of a deployment",
  takes: {
    "<create|list|delete>": "what to do",
    "[key_id]": "with delete: which one",
    "--role <role>": `with create: ${roles.join(", ")}; each may do what those before it may`,
    "--client <slug>": "with create: the one client that it reaches; absent: all of them",
    "--name <text>": "with create: whose it is",
  },
  async run([asked, id], { role, client, name, json }) {
    const action = actionOf("keys", ["create", "list", "delete"], asked);
    if (action === "list") {
      const items = await withKeys((place) => Array.fromAsync(place.list()));
      const rowOf = (key: (typeof items)[0]) => [key.id, key.role, key.client_slug ?? "all", key.name, key.created_at];
      const [header, empty] = [
        ["key", "role", "client", "name", "made"],
        "no keys - nova keys create --role admin makes one",
      ];
      return told(items, { header, rowOf, empty });
    }
    if (action === "create") {
      const request = { role: readRole(role), ...defined({ client_slug: client, name }) };
      const made = await withKeys((place) => place.create(request));
      const once = `this is the only time that ${made.id} is shown: keep it where keys are kept`;
      if (!json) printError(styled("dim", once));
      return { json: made, text: made.key };
    }
    if (id === undefined) throw new InvalidInput("nova keys delete needs the id of a key - nova keys list shows them");
    await withKeys((place) => place.delete(id));
    return { json: { id, deleted: true }, text: `${id} opens nothing any more` };
  },
});

function readRole(text: string | undefined): Role {
  const role = roles.find((one) => one === text);
  if (role) return role;
  const what = text === undefined ? "nova keys create needs a role" : `there is no role "${text}"`;
  throw new InvalidInput(`${what} - use one of --role ${roles.join(", ")}`);
}
