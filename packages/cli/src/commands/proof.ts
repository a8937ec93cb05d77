import { readFile } from "node:fs/promises";
import { ApiProblem, type NovaClient } from "@nova/client";
import { describeVerdict, listRemarks } from "@nova/verify/describe";
import { defined } from "@nova/workflow/defined";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import { demandUrl, fetchSigned, limitSize } from "../api/client.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { writeNewFile } from "../files.ts";
import { print, printBytes, printError, printStatus, styled } from "../output/terminal.ts";
import { command } from "./command.ts";

const levels = ["none", "digests", "all"] as const satisfies readonly ProofLevel[];

export const proof = command({
  summary: "make the proof of an execution that has ended, for people without access to NOVA",
  takes: {
    "<execution_id>": "",
    "--into <file>": "write the proof there; absent: to standard output",
    "--contents <level>": {
      says: "none: heads; digests: also records of steps; all: also values, code and logs, without secrets",
      absent: "digests",
      choices: levels,
    },
    "--now": "make a root first, instead of waiting for the hourly one (needs the role admin)",
    "--force": "overwrite the file if it exists",
  },
  json: "with --into: print one JSON object about the file",
  async run([id = ""], { into, contents, now = false, force = false }) {
    const made = await makeProof(id, { level: contents, into, now, force });
    const { bytes, verdict, restarts } = made;
    const code = verdict.state === "broken" ? exitCodes.failed : exitCodes.completed;
    if (into === undefined) {
      if (!printBytes(bytes)) print(bytes.toString(), true);
      for (const line of describeProof(made)) printError(line);
      return code;
    }
    const text = [`${into} is the proof of ${id}, ${bytes.length} bytes`, ...describeProof(made)];
    return { json: { ...verdict, ...defined({ into }), level: contents, bytes: bytes.length, restarts }, text, code };
  },
});

interface Wish {
  level: ProofLevel;
  into: string | undefined;
  now: boolean;
  force: boolean;
}

async function makeProof(id: string, { level, into, now, force }: Wish) {
  const { bytes, restarts } = await askApi(async (nova) => {
    const { restarts, ended_at } = await nova.executions.get(id);
    if (now && ended_at !== null) await nova.makeRoot();
    const body = withProgress(await openProof(nova, id, level));
    if (into === undefined) return { bytes: Buffer.concat(await Array.fromAsync(body)), restarts };
    await writeNewFile(into, body, { force });
    return { bytes: await readFile(into), restarts };
  });
  const { verifyProof } = await import("@nova/verify");
  return { bytes, restarts, verdict: await verifyProof(bytes) };
}

/** The command shows its progress only for files that are larger than this, because smaller files arrive at once. */
const shownFromBytes = 4 * 1024 * 1024;

async function* withProgress(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const isShown = process.stderr.isTTY === true;
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (isShown && bytes > shownFromBytes) printStatus(`proof: ${(bytes / 1024 / 1024).toFixed(1)} MB`);
      yield chunk;
    }
  } finally {
    if (isShown) printStatus("");
  }
}

type ProofLevel = "none" | "digests" | "all";

/** The largest proof file, in bytes: 256 MB (docs/proof.md). */
const largestProof = 2 ** 28;

/** Asks for the proof file of an execution, and returns its bytes as a stream. Throws `ApiProblem`, `InvalidInput`. */
async function openProof(nova: NovaClient, id: string, contents: ProofLevel): Promise<ReadableStream<Uint8Array>> {
  const params = { path: { id }, query: { contents } };
  // For a large file, the server redirects to another address. `fetch` must not follow the redirect here, because the
  // client would then load the whole file into memory.
  const asked = { params, parseAs: "text", redirect: "manual" } as const;
  const { data, error, response } = await nova.api.GET("/executions/{id}/proof", asked);
  if (response.status === 303) return openLarge(response.headers.get("location") ?? "", id);
  if (!response.ok) throw new ApiProblem(response.status, error);
  return new Blob([data as unknown as string]).stream();
}

async function openLarge(address: string, id: string): Promise<ReadableStream<Uint8Array>> {
  demandUrl(address, `the proof of ${id}`);
  const { body } = limitSize(await fetchSigned(address, `the proof of ${id}`), largestProof);
  if (!body) throw new InvalidInput(`the proof of ${id} arrived empty - try again`);
  return body;
}

/**
 * Returns lines for people. They say what a proof covers, which runs it only names, and whether a Merkle tree contains
 * the run. `restarts` is separate, because a proof file does not name the restarts of its run.
 */
function describeProof({ verdict, restarts }: Awaited<ReturnType<typeof makeProof>>): string[] {
  const { state, execution, covers } = verdict;
  if (state === "broken") {
    const advice = `nova verify ${shellWord(execution ?? "")} says more`;
    return [
      styled("red", describeVerdict(verdict)),
      styled("dim", `The file shows the stored chain as it is; ${advice}.`),
    ];
  }
  const inside = covers.slice(1);
  return [
    styled("green", describeVerdict(verdict)),
    ...(inside.length > 0 ? [styled("dim", `It contains the runs inside it: ${inside.join(", ")}.`)] : []),
    ...listRemarks({ ...verdict, keys: "given" })
      .slice(1)
      .map((remark) => styled("dim", remark)),
    ...restarts.map((id) => styled("dim", `${id} restarts it, and is not part of this proof.`)),
    ...(verdict.root
      ? []
      : [styled("yellow", "The next root is due within an hour; nova proof --now makes one first.")]),
  ];
}
