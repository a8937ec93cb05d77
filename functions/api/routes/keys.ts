import { type ApiKey, Conflict, createKey, deleteKey, listKeys } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { CreatedKey, KeyItem, KeyRequest, keyItem } from "../schemas/client.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { KeyId } from "../schemas/values.ts";

export const create = route({
  method: "POST",
  path: "/keys",
  summary: "Make an API key, which is shown this once",
  role: "admin",
  body: KeyRequest,
  answers: { 201: { description: "the key", schema: CreatedKey } },
  async handle(ports, { by, body: { role, client_slug: client, name }, once }) {
    let text: string | undefined;
    const made = await once(async (ulid): Promise<ReturnType<typeof keyItem>> => {
      const request = { ulid, role, ...(client !== undefined && { client }), ...(name !== undefined && { name }) };
      const created = await createKey(ports, by, request);
      text = created.text;
      return keyItem(created.key);
    });
    if (text === undefined) throw shownBefore(made.id);
    return { status: 201, body: { ...made, key: text } };
  },
});

/** A key that could be shown again would have to be kept. */
function shownBefore(id: ApiKey["id"]): Conflict {
  return new Conflict(`key "${id}" was made and shown by an earlier request - DELETE /keys/${id} and make another`);
}

export const list = route({
  method: "GET",
  path: "/keys",
  summary: "Keys, oldest first, without their secrets",
  role: "admin",
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(KeyItem) } },
  handle: async (ports, { by, query }) =>
    listAnswer(await listKeys(ports, by, pageQuery(query, /^key_[0-9A-Z]{26}$/)), keyItem),
});

export const remove = route({
  method: "DELETE",
  path: "/keys/{id}",
  summary: "Delete a key: it opens nothing any more",
  role: "admin",
  params: z.object({ id: KeyId }),
  answers: { 204: { description: "deleted" }, 409: { description: "it is the key of the request" } },
  async handle(ports, { by, params: { id } }) {
    await deleteKey(ports, by, id);
    return { status: 204 };
  },
});
