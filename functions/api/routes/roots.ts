import { listRoots, makeRoot, type ShownRoot } from "@nova/service";
import { z } from "zod";
import { logger } from "../../app.ts";
import { OtherAnswer, route } from "../http/route.ts";
import { listRoute } from "../schemas/list.ts";
import { Time, viewOf } from "../schemas/values.ts";

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const RootItem = z
  .object({
    number: z.int().min(1),
    size: z.int().min(1).describe("number of runs in the tree"),
    tree: Hash.describe("hash of the tree (RFC 6962)"),
    at: Time,
    previous: Hash.nullable().describe("SHA-256 of the text of the root before; null in root 1"),
    text: z.string().describe("the text that is signed and stamped"),
    signature: z.string(),
    stamped_at: Time.nullable().describe("time in the stamp of the authority; null: it has no stamp yet"),
    delay_ms: z.int().nullable().describe("milliseconds between the root and its stamp"),
  })
  .meta({ id: "Root", description: "the root of a Merkle tree of closed runs: docs/proof.md" });

const show = (root: ShownRoot) => viewOf(RootItem, root, { stamped_at: root.stampedAt, delay_ms: root.delayMs });

export const list = listRoute("/roots", {
  summary: "The roots of the Merkle trees of closed runs, newest first; needs a key for all clients",
  role: "viewer",
  item: RootItem,
  list: (ports, { by, page }) => listRoots(ports, by, page),
  show,
});

export const make = route("POST /roots", {
  summary: "Make a root over the runs that have closed since the last one, without waiting for the hourly job",
  role: "admin",
  answers: {
    200: { description: "the newest root: no run has closed since", schema: RootItem },
    201: { description: "the new root, or the last of several: a tree has at most 10,000 runs", schema: RootItem },
  },
  async handle(ports, { by, once }) {
    const { root, isNew, problem } = await once(() => makeRoot(ports, by));
    if (problem !== undefined) logger.warn("roots without a time stamp", { reason: problem });
    return new OtherAnswer({ status: isNew ? 201 : 200, body: show(root) });
  },
});
