import { z } from "zod";

const Named = z.object({ workflow: z.string(), version: z.number() });
const Event = z.object({ detail: Named });
/** What a queue hands over: events of the bus, as text. */
const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/** The versions that an invocation is about: named, as an event of the bus, or as a batch of those. */
export const PublicationsIn = z.union([
  Batch.transform(({ Records }) => Records.map(({ body }) => Event.parse(JSON.parse(body)).detail)),
  Event.transform(({ detail }) => [detail]),
  Named.transform((named) => [named]),
]);
