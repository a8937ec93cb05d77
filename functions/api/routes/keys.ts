import { Conflict, createKey, deleteKey, listKeys } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { CreatedKey, KeyItem, KeyRequest, keyItem } from "../schemas/client.ts";
import { listRoute } from "../schemas/list.ts";
import { KeyId } from "../schemas/values.ts";

export const create = route("POST /keys", {
  summary: "Create an API key, which NOVA shows once",
  role: "admin",
  body: KeyRequest,
  answers: { 201: { description: "the key", schema: CreatedKey } },
  async handle(ports, { by, body: { client_slug: client, ...body }, once }) {
    let text: string | undefined;
    const made = await once(async (ulid): Promise<ReturnType<typeof keyItem>> => {
      const created = await createKey(ports, by, { ulid, ...body, ...(client !== undefined && { client }) });
      text = created.text;
      return keyItem(created.key);
    });
    if (text !== undefined) return { ...made, key: text };
    // NOVA does not store the key, so a repetition cannot show it.
    const told = `key "${made.id}" was made and shown by an earlier request`;
    throw new Conflict(`${told} - DELETE /keys/${made.id} and make another`);
  },
});

export const list = listRoute("/keys", {
  summary: "Keys, oldest first, without their secrets",
  role: "admin",
  item: KeyItem,
  cursor: /^key_[0-9A-Z]{26}$/,
  list: (ports, { by, page }) => listKeys(ports, by, page),
  show: keyItem,
});

export const remove = route("DELETE /keys/{id}", {
  summary: "Delete a key, which stops working at once",
  role: "admin",
  params: z.object({ id: KeyId }),
  answers: { 204: { description: "deleted" }, 409: { description: "it is the key of the request" } },
  handle: (ports, { by, params: { id } }) => deleteKey(ports, by, id),
});
