import type { Problem, Verdict } from "../src/index.ts";

/** Returns one sentence that says whether a proof is valid, or what is wrong and where. */
export function describeVerdict(verdict: Verdict): string {
  const { state, execution, covers, entries, signed_at, problem } = verdict;
  if (state === "broken")
    return `${execution ?? "The proof"} is broken${problem ? `: ${describeProblem(problem)}` : "."}`;
  const runs = covers.length === 1 ? "its run" : `${covers.length} runs`;
  return `${execution} is valid: ${entries} ${entries === 1 ? "entry" : "entries"} of ${runs}, signed at ${signed_at}.`;
}

/** Returns the message of a problem, with the entry and the run that have the problem. */
export function describeProblem({ message, execution, scope, seq }: Problem): string {
  if (execution === undefined) return message;
  const entry = seq === undefined ? "" : `entry ${seq} of ${scope ? `branch ${scope} of ` : ""}`;
  return `${message.replace(/\.$/, "")} (${entry}${execution}).`;
}

/**
 * Returns sentences about what a valid proof proves and what it leaves open: keys, roots, time stamps, contents and
 * runs that it only names. Returns none for a broken proof.
 */
export function listRemarks({ state, keys, root, stamp, contents, names }: Verdict): string[] {
  if (state === "broken") return [];
  const { checked, withheld, erased } = contents;
  const relations = {
    reuses: "It reuses outcomes of",
    restarts: "It restarts",
    "child missing": "An outcome that it reuses came from",
  };
  return [
    keys === "given"
      ? "The signatures are from the keys that you gave."
      : "The keys are from the file itself, so anyone can have made it - compare them with /.well-known/nova-keys.json of the operator.",
    root
      ? `Root ${root.number} of ${root.at} contains the run.`
      : "No root contains the run yet, so nothing outside dates it.",
    ...(root && !stamp ? ["No authority has stamped the root."] : []),
    ...(stamp
      ? [
          stamp.trusted
            ? `The authority that you gave stamped the root at ${stamp.at}.`
            : `An authority stamped the root at ${stamp.at} - name its certificate to check who it is.`,
        ]
      : []),
    ...(checked + withheld + erased > 0
      ? [`${checked} contents are unchanged, ${withheld} are withheld, ${erased} were erased.`]
      : []),
    ...names.map(({ execution, relation }) => `${relations[relation]} ${execution}, which is not part of this proof.`),
  ];
}
