import { proofContents, RawJson, readEntries, runningLog, traceTag } from "@nova/engine";
import { executionWithin, makeProof, NotFound, readLink, requestUpload } from "@nova/service";
import { defined } from "@nova/workflow";
import { z } from "zod";
import { OtherAnswer, route } from "../http/route.ts";
import { ChainEntry } from "../schemas/chain.ts";
import { Printed } from "../schemas/execution.ts";
import { listRoute, renderedItems } from "../schemas/list.ts";
import { ExecutionId, Flag, named, Slug, Time, UploadId, viewOf, wholeNumber } from "../schemas/values.ts";

export const list = listRoute("/executions/{id}/chain", {
  summary: "The chain of work, with branches inside the entries of their forks; `full` adds code, contexts and logs",
  role: "viewer",
  params: z.object({ id: ExecutionId }),
  query: { full: Flag.optional().describe("large values stay references; a single entry has them whole") },
  item: ChainEntry,
  tag: async (ports, { by, params: { id } }) => traceTag(ports, await executionWithin(ports, by, id)),
  async list(ports, { by, params: { id }, query: { full = false }, page: { limit, cursor = "0" } }) {
    await executionWithin(ports, by, id);
    const { items, add: fits } = renderedItems();
    const { next } = await readEntries(ports, id, { full, from: Number(cursor), limit, fits });
    return { items, ...defined({ cursor: next?.toString() }) };
  },
});

const place = z.object({ id: ExecutionId, seq: wholeNumber(0, 999_999_999) });
const Scope = z.string().max(1000).optional().describe("scope of an entry in a branch; absent: the main line");

export const entry = route("GET /executions/{id}/chain/{seq}", {
  summary: "One entry; `full` adds code, contexts and logs",
  role: "viewer",
  params: place,
  query: z.strictObject({
    full: Flag.optional(),
    scope: Scope,
    references: Flag.optional().describe("large values stay references, as in the chain of work"),
  }),
  answers: { 200: { description: "the entry", schema: ChainEntry } },
  async handle(ports, { by, params: { id, seq }, query: { full = false, scope = "", references = false } }) {
    await executionWithin(ports, by, id);
    const found = await readLink(ports, id, { seq, scope, full, references });
    if (!found) throw new NotFound(`execution "${id}" has no link ${seq} - GET /executions/${id}/chain lists them`);
    return found;
  },
});

export const logs = route("GET /executions/{id}/chain/{seq}/logs", {
  summary: "Output of the code that runs for an entry; the entry has the output of code that has ended",
  role: "viewer",
  params: place,
  query: z.strictObject({
    scope: Scope,
    after: z
      .string()
      .regex(/^\d{1,9}-\d{1,9}-\d{1,15}$/, "use a `next` that was answered")
      .optional()
      .describe("`next` of the answer before: answers only later output"),
  }),
  answers: { 200: { description: "the text, secrets masked", schema: Printed } },
  async handle(ports, { by, params: { id, seq }, query: { scope = "", after } }) {
    await executionWithin(ports, by, id);
    const [afterStep = 0, afterAttempt = 0, afterBytes = 0] = (after ?? "").split("-").map(Number);
    const place = { step: afterStep, attempt: afterAttempt, bytes: afterBytes };
    const printed = await runningLog(ports, id, { seq, scope }, after === undefined ? undefined : place);
    if (!printed) return { text: "", left_out: 0, next: null };
    const { step, attempt, bytes } = printed.next;
    return { text: printed.text, left_out: printed.leftOut, next: `${step}-${attempt}-${bytes}` };
  },
});

const ProofFile = z
  .looseObject({
    kind: z.literal("nova-proof"),
    format: z.literal(1),
    execution: ExecutionId,
    made_at: Time,
    contents: z.enum(proofContents),
    runs: z.array(z.looseObject({ execution: z.string() })),
  })
  .meta({ id: "ProofFile", description: "docs/proof.md has all fields, and the checks of a verifier" });

export const proof = route("GET /executions/{id}/proof", {
  summary: "The proof of a run that has ended, for people without access to NOVA",
  role: "viewer",
  params: z.object({ id: ExecutionId }),
  query: z.strictObject({
    contents: z
      .enum(proofContents)
      .optional()
      .describe("`none`: heads; `digests` (default): also records of steps; `all`: also values, code, logs"),
  }),
  answers: {
    200: { description: "the file", schema: ProofFile },
    303: { description: "`location` has the file, which is larger than 4 MB; it is valid for 15 minutes" },
    409: { description: "the run is open" },
  },
  async handle(ports, { by, params: { id }, query: { contents = "digests" } }) {
    const made = await makeProof(ports, by, id, contents);
    return "url" in made ? new OtherAnswer({ status: 303, headers: { location: made.url } }) : new RawJson(made.text);
  },
});

const UploadRequest = z.strictObject({
  bytes: z.int().min(0).describe("exact number of bytes"),
  type: z
    .string()
    .regex(/^[!#$&^_.+\w-]{1,100}\/[!#$&^_.+\w-]{1,100}(; ?[\w-]{1,40}=[\w.+-]{1,80})*$/)
    .optional()
    .meta({ description: "media type", example: "application/pdf" }),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe("SHA-256 in hex: S3 accepts only these bytes, and a run starts without reading them"),
  client_slug: Slug.optional(),
});

const UploadAnswer = z
  .object({
    id: UploadId,
    url: z.url(),
    method: z.literal("PUT"),
    headers: z.record(z.string(), z.string()).describe("send them unchanged: they are signed"),
    expires_at: Time,
  })
  .meta({ id: "Upload", description: 'in a context, `{"$upload": id}` stands for the bytes' });

export const upload = route("POST /uploads", {
  summary: "Create an address that accepts bytes for a run, which NOVA keeps for a day",
  role: "runner",
  body: UploadRequest,
  answers: { 201: { description: "the address for the bytes", schema: UploadAnswer } },
  async handle(ports, { by, body: { client_slug: client, ...body }, once }) {
    const request = { ...body, ...(client !== undefined && { client }) };
    return viewOf(UploadAnswer, await once((ulid) => requestUpload(ports, by, { ulid, ...request })));
  },
});

const linkSeconds = 900;

const BlobLink = named("BlobLink", {
  url: z.url().describe("gives the bytes to every caller who has it"),
  expires_at: Time,
});

export const link = route("GET /executions/{id}/blobs/{sha256}", {
  summary: "The address of the bytes of a reference in a context",
  role: "viewer",
  params: z.object({ id: ExecutionId, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  query: z.strictObject({
    as: z.enum(["application/pdf"]).optional().describe("the content type of the bytes, for display"),
  }),
  answers: { 200: { description: "the address", schema: BlobLink } },
  async handle(ports, { by, params: { id, sha256 }, query }) {
    const { client, root } = await executionWithin(ports, by, id);
    const expiresAt = new Date(ports.clock.now() + linkSeconds * 1000).toISOString();
    const url = await ports.blobLinks.sign({ client, root }, sha256, linkSeconds, query.as);
    if (url === undefined) {
      throw new NotFound(`execution "${id}" has no bytes of that hash - take one of its contexts, if none was erased`);
    }
    return { url, expires_at: expiresAt };
  },
});
