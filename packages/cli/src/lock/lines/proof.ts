import { styled } from "../../output/terminal.ts";
import { shortened } from "../../output/text.ts";
import type { NodeProof, ProofOutcome, ProofRun } from "../prove.ts";

const told: Record<ProofOutcome, string> = {
  same: styled("green", "the same outputs"),
  differs: styled("red", "other outputs"),
  fails: styled("red", "fails, and did not then"),
  works: styled("green", "works, and failed then"),
  fails_too: styled("yellow", "fails, as it did then"),
};

/** Node by node and run by run, what is recorded and what the code does now. Values must not steer the terminal. */
export function proofLines(proofs: readonly NodeProof[]): string[] {
  if (proofs.length === 0) return ["no node has a prompt: there is nothing to prove"];
  return proofs.flatMap((proof) => {
    if ("refused" in proof) return [styled("yellow", proof.refused)];
    const same = proof.runs.filter(({ outcome }) => outcome === "same").length;
    return [
      `${styled("bold", proof.node)}: the same outputs for ${same} of ${proof.runs.length} recorded inputs`,
      ...proof.runs.flatMap(runLines),
    ];
  });
}

function runLines({ recorded: { execution, entry }, outcome, differences, error, withheld }: ProofRun): string[] {
  const place = `${execution.id} ${entry.seq}${entry.scope}`;
  const secrets = withheld.length > 0 ? styled("dim", ` (without ${withheld.join(", ")})`) : "";
  return [
    `  ${styled("dim", place)} ${told[outcome]}${secrets}`,
    ...(error === null ? [] : [`    ${plain(error)}`]),
    ...differences.flatMap(({ key, recorded, now }) => [
      `    ${styled("cyan", key)}`,
      `      ${styled("red", `- ${recorded === null ? "(not set)" : plain(recorded)}`)}`,
      `      ${styled("green", `+ ${now === null ? "(not set)" : plain(now)}`)}`,
    ]),
  ];
}

function plain(text: string): string {
  return shortened(text);
}
