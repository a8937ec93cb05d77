import { findWorkflow, reaches } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { GenerationItem, generationItem } from "../schemas/generation.ts";
import { ListQuery, listAnswer, listOf, pageOfAll, pageQuery } from "../schemas/list.ts";
import { WorkflowId } from "../schemas/values.ts";

export const list = route({
  method: "GET",
  path: "/workflows/{id}/generations",
  summary: "Code that models wrote for a workflow: all of it, or that for the key's client and for everybody",
  role: "viewer",
  params: z.object({ id: WorkflowId }),
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(GenerationItem) } },
  async handle(ports, { by, params: { id }, query }) {
    await findWorkflow(ports, id);
    const kept = await ports.generations.ofWorkflow(id);
    const within = kept.filter(({ client }) => client === null || reaches(by, client)).map(generationItem);
    const bytesOf = (item: object) => Buffer.byteLength(JSON.stringify(item));
    return listAnswer(pageOfAll(within, pageQuery(query, /^\d{1,9}$/), bytesOf), (item) => item);
  },
});
