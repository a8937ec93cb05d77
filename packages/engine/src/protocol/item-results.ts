import { atOnce } from "../at-once.ts";
import { contentText } from "../chain/contents.ts";
import { failureOf } from "../chain/position.ts";
import { type Context, isWithin, linkLabel } from "../context/context.ts";
import { blobPages, loadContext, loadStored, type StoredContext } from "../context/pages.ts";
import { chainBroken } from "../errors.ts";
import { objectText } from "../json/text.ts";
import type { Ports } from "../ports/index.ts";
import type { OpenFork, Tip } from "./branches.ts";
import { decisionKey } from "./merge-branches.ts";
import { branchState, ownWords } from "./verdict.ts";

/** The list of what each item of a map set, in their order; of a tolerated failure what failed. */
export async function resultsText(
  ports: Pick<Ports, "blobs">,
  open: OpenFork,
  tips: readonly Tip[],
  before: StoredContext,
): Promise<string> {
  const shared = new Set(before.pages.map(({ sha256 }) => sha256));
  const results = await atOnce(tips, (tip) =>
    branchState(open, tip) === "failed" ? failedItem(ports, tip) : itemResult(ports, tip, shared),
  );
  return `[${results.join(",")}]`;
}

/** Pages that the item shares with the map's own link hold nothing of the item's: they are not read ten thousand times. */
async function itemResult(ports: Pick<Ports, "blobs">, { entry, head }: Tip, shared: ReadonlySet<string>) {
  if (!entry.contents.context) {
    throw chainBroken(`link ${head.seq} of ${head.execution_id}${head.scope} has no context: it was erased`);
  }
  const stored = loadStored(await contentText(entry.contents.context, head, ports.blobs));
  const own = { ...stored, pages: stored.pages.filter(({ sha256 }) => !shared.has(sha256)) };
  const { context } = await loadContext(JSON.stringify(own), blobPages(ports.blobs, head));
  const given = linkLabel({ scope: head.scope, seq: 0 });
  const isResult = ({ by, key }: ReturnType<Context["slots"]>[number]) =>
    by !== given && isWithin(by, head.scope) && key !== decisionKey;
  return objectText(context.slots().filter(isResult));
}

async function failedItem(ports: Pick<Ports, "blobs">, { entry, head }: Tip): Promise<string> {
  const failure = await failureOf(entry, ports.blobs);
  const error = { node: failure.node ?? head.node_id, class: head.error_class, message: ownWords(failure) };
  return JSON.stringify({ error });
}
