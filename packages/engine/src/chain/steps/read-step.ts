import type { BlobHome, BlobStore } from "../../ports/blobs.ts";
import type { StepContentName, StoredStep } from "../../ports/chain.ts";
import type { JournalStep } from "../../ports/pipeline.ts";
import { contentText } from "../contents.ts";
import { type StepText, type StepTexts, stepFrom } from "./step-record.ts";

/** What a delivery goes on with; what the model saw and answered in full is for people. */
const replayed: StepContentName[] = ["input", "output", "code", "tools", "error", "logs", "result"];

/** The recorded step at a place, as a pipeline gets it again. Throws `BlobMissing` for a content that was erased. */
export async function replayedStep(
  place: number,
  stored: StoredStep,
  home: BlobHome,
  blobs: BlobStore,
): Promise<JournalStep> {
  const texts = await stepTexts(stored, replayed, (content) => contentText(content, home, blobs));
  return stepFrom(place, JSON.parse(stored.text) as StepText, texts);
}

type Read = (content: NonNullable<NonNullable<StoredStep["contents"]>[StepContentName]>) => Promise<string | null>;

/** Texts of those contents that are there. */
export async function stepTexts({ contents = {} }: StoredStep, names: StepContentName[], read: Read) {
  const texts: StepTexts = {};
  await Promise.all(
    names.map(async (name) => {
      const content = contents[name];
      if (content) texts[name] = await read(content);
    }),
  );
  return texts;
}
