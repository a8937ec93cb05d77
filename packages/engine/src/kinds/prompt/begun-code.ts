import { contentText, sealContents } from "../../chain/contents.ts";
import { isPinnedPlace, noteNumber } from "../../chain/steps/step-number.ts";
import { chainBroken } from "../../errors.ts";
import { sha256 } from "../../json/hash.ts";
import type { StoredStep } from "../../ports/chain.ts";
import type { JournalSite, StepJournal } from "./journal.ts";

/**
 * The code that begins at a place of the journal. Code that a recorded step holds is the same in every delivery. Other
 * code was written by this delivery alone, and its claim may be another's: whoever notes it first decides.
 */
export async function codeToBegin(
  { ports, position, place: { turn } }: JournalSite,
  journal: StepJournal,
  place: number,
  code: string,
): Promise<string> {
  if (isPinnedPlace(place) || journal.hasCode(code)) return code;
  const { at, before } = position;
  const step = noteNumber(turn, place);
  const read = ({ contents }: StoredStep) =>
    contents?.code ? contentText(contents.code, before, ports.blobs) : Promise.resolve(code);
  const known = journal.noteAt(place);
  if (known) return read(known);
  const { contents, digests } = await sealContents({ code }, before, ports.blobs);
  const text = JSON.stringify({ format: 1, begins_at: place, digests });
  if (await ports.chain.putStep(at, { step, text, hash: sha256(text), contents })) return code;
  const winner = (await ports.chain.steps(at)).find((stored) => stored.step === step);
  if (winner) return read(winner);
  throw chainBroken(`link ${at.seq} of ${at.execution} refuses the note of step ${place} and has none`);
}
