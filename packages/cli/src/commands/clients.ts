import type { Client } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { unlessMissing } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import { told } from "../output/table.ts";
import { actionOf, command } from "./command.ts";

export const clients = command({
  summary: "make, list and delete clients: for whom workflows run",
  takes: {
    "<create|list|delete>": "what to do; delete erases what they said, and keeps what proves their runs",
    "[slug]": "with create, delete: which one",
    "--name <text>": "with create: for people; absent: the slug",
  },
  async run([asked, slug], { name }) {
    const action = actionOf("clients", ["create", "list", "delete"], asked);
    if (action === "list") {
      const items = (await askApi((nova) => Array.fromAsync(nova.clients.list()))).map(itemOf);
      const [header, empty] = [["client", "name", "made"], "no clients - nova clients create makes one"];
      return told(items, { header, rowOf: ({ slug, name, created_at }) => [slug, name, created_at], empty });
    }
    if (slug === undefined) throw new InvalidInput(`nova clients ${action} needs a slug, such as acme`);
    if (action === "create") {
      const made = await askApi((nova) => nova.clients.create({ slug, name: name ?? slug }));
      return { json: itemOf(made), text: `client ${made.slug} is made` };
    }
    const isErased = await askApi(async (nova) => {
      await nova.clients.delete(slug);
      return (await unlessMissing(nova.clients.get(slug))) === null;
    });
    const what = isErased ? "is erased" : "is being erased, which takes some minutes";
    return { json: { slug, deleted: true }, text: `client ${slug} is deleted, and what it said ${what}` };
  },
});

function itemOf({ slug, name, created_at }: Client) {
  return { slug, name, created_at };
}
