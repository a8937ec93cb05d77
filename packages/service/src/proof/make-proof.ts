import {
  type Execution,
  type Head,
  type ProofContentsLevel,
  parsedOrNot,
  readInclusion,
  writeProof,
} from "@nova/engine";
import { Conflict, Refused } from "../errors.ts";
import { executionWithin } from "../executions/executions.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";

/**
 * The largest proof file in an answer of the API, in bytes. AWS Lambda answers at most 6 MB, and base64 makes the file
 * longer by a third.
 */
const largestAnswer = 4 * 1024 * 1024;

/** The largest proof file that a verifier reads (docs/proof.md), in bytes. */
const largestFile = 2 ** 28;

/** The time for which the URL of a large proof file is valid. */
const linkSeconds = 900;

/** A proof file: its text, or the URL of a file that is too large for an answer of the API. */
export type MadeProof = { text: string } | { url: string };

/**
 * Makes the proof file of a closed run. Throws `ExecutionNotFound`, `Conflict` for an open run, and `Refused` if the
 * file would be too large.
 */
export async function makeProof(
  ports: ServicePorts,
  by: Principal,
  id: string,
  contents: ProofContentsLevel,
): Promise<MadeProof> {
  const record = await executionWithin(ports, by, id);
  await demandClosed(ports, record);
  const { client, root } = record;
  const madeAt = new Date(ports.clock.now()).toISOString();
  const inTree = await readInclusion(ports, id);
  const pieces = writeProof(ports, { execution: id, home: { client, root }, contents, root: inTree, madeAt });
  const held: Buffer[] = [];
  let bytes = 0;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    const piece = Buffer.from(next.value);
    held.push(piece);
    bytes += piece.length;
    if (bytes > largestAnswer) {
      const body = limitBytes(joinPieces(held, pieces), id);
      return { url: await ports.proofFiles.share({ client, root, execution: id }, body, linkSeconds) };
    }
  }
  return { text: Buffer.concat(held).toString() };
}

/**
 * Throws `Conflict` for an open run without a close entry. If a run that is not open has no close entry, the run is
 * damaged, and its proof shows the damage.
 */
async function demandClosed({ chain }: Pick<ServicePorts, "chain">, { id, open }: Execution): Promise<void> {
  if (!open) return;
  const entries = (await chain.tip(id, "")).flatMap(({ entry }) => entry ?? []);
  const isClosed = entries.some(({ head }) => (parsedOrNot(head) as Partial<Head> | null | undefined)?.close);
  if (!isClosed) throw new Conflict(`execution "${id}" is open - its proof exists after its end`);
}

async function* joinPieces(held: Buffer[], pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  yield* held.splice(0);
  for await (const piece of pieces) yield Buffer.from(piece);
}

async function* limitBytes(body: AsyncIterable<Buffer>, id: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > largestFile)
      throw new Refused(`the proof of "${id}" has more than 256 MB - ask for contents "digests" or "none"`);
    yield chunk;
  }
}
