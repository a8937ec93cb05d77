import type { ChainEntry, WholeExecution } from "@nova/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNova } from "../../api/nova.ts";
import { asRaw, readMembers, readString } from "../../json/raw.ts";
import { Button, CopyButton } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { ErrorNote, QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { saveFile } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";
import { listEntries } from "./run-model.ts";

const words = texts.run.proof;
const pageSize = 200;
/** Number of entries that are listed before the user asks for all entries. */
const firstShown = 100;

/**
 * Lists the entries of the chain of work with their hashes and people. Also shows the signature, the root and its time
 * stamp.
 */
export function ProofDialog({ run }: { run: WholeExecution }) {
  const { execution_id: id } = run;
  const nova = useNova();
  const chain = useQuery({
    queryKey: ["proof chain", id, run.path.length, run.status],
    queryFn: async () => listEntries(await Array.fromAsync(nova.executions.chain(id, { limit: pageSize }))),
  });
  const isOver = run.ended_at !== null;
  const proof = useQuery({
    queryKey: ["proof", id],
    enabled: isOver,
    queryFn: async () => readSeals(await nova.executions.proof(id, { contents: "none" }), id),
  });
  const download = useMutation({
    async mutationFn() {
      const params = { path: { id }, query: { contents: "all" as const } };
      const text = await nova.ask(nova.api.GET("/executions/{id}/proof", { params, parseAs: "text" }));
      saveFile(`${id}.proof.json`, new Blob([text as unknown as string], { type: "application/json" }));
    },
  });
  return (
    <Dialog
      title={words.title}
      isWide
      actions={
        isOver && (
          <>
            <a className="button" href="/console/verify.html" download>
              <Icon name="download" size={14} />
              {words.verifier}
            </a>
            <Button tone="main" icon="download" onClick={() => download.mutate()}>
              {words.download}
            </Button>
          </>
        )
      }
    >
      <div className="stack loose">
        <p className="quiet">{isOver ? words.hint : words.open}</p>
        {isOver && <QueryView query={proof}>{(seals) => <Facts className="facts" facts={factsOf(seals)} />}</QueryView>}
        {isOver && (
          <p className="line">
            <code className="command well">{words.command(id)}</code>
            <CopyButton text={words.command(id)} />
          </p>
        )}
        <ErrorNote error={download.error} />
        <QueryView query={chain}>{(links) => <Links links={links} />}</QueryView>
      </div>
    </Dialog>
  );
}

function factsOf({ signature, root, isStamped }: ReturnType<typeof readSeals>): Fact[] {
  return [
    [words.signature, signature === undefined ? words.unsigned : <Hash key="s" text={signature} />],
    [words.root, root === undefined ? words.noRoot : words.rootNumber(root.number)],
    [words.rootTime, root && <Time key="t" at={root.at} />],
    [words.stamp, root && (isStamped ? words.stamped : words.notStamped)],
  ];
}

/** Reads the signature, the root and the stamp of a proof file; docs/proof.md describes its fields. */
function readSeals(proof: { runs: readonly { execution: string }[] } & Record<string, unknown>, id: string) {
  const { runs, root, stamp } = proof;
  const run = runs.find(({ execution }) => execution === id) as { signature?: unknown } | undefined;
  const text = (root as { text?: unknown } | null | undefined)?.text;
  const { number, at } = typeof text === "string" ? JSON.parse(text) : {};
  return {
    signature: typeof run?.signature === "string" ? run.signature : undefined,
    root: typeof number === "number" && typeof at === "string" ? { number, at } : undefined,
    /** Whether an authority has put its time stamp on the root. */
    isStamped: stamp !== null && stamp !== undefined,
  };
}

function Links({ links }: { links: readonly ChainEntry[] }) {
  const [isComplete, setComplete] = useState(false);
  const shown = isComplete ? links : links.slice(0, firstShown);
  return (
    <>
      <Table label={words.chain} items={shown} keyOf={({ scope, seq }) => `${scope}#${seq}`} columns={columns} />
      {shown.length < links.length && (
        <Button tone="ghost" onClick={() => setComplete(true)}>
          {texts.common.more(links.length - shown.length)}
        </Button>
      )}
    </>
  );
}

const { columns: labels } = words;

const columns: readonly Column<ChainEntry>[] = [
  [labels.link, ({ seq, scope }) => <span className="proof-link mono break">{`${seq}${scope}`}</span>],
  [labels.node, ({ node_id }) => <UntrustedText text={node_id} />],
  [labels.at, ({ timestamp }) => <Time at={timestamp} />, "fixed wide quiet"],
  [labels.hash, ({ hash }) => <Hash text={hash} />, "fixed"],
  [labels.by, (entry) => <UntrustedText text={findPerson(entry) ?? ""} />],
  [labels.prev, ({ prev }) => prev !== null && <Hash text={prev} />, "fixed wide quiet"],
];

const shownCharacters = 10;

function Hash({ text }: { text: string }) {
  return (
    <span className="mono row tight" title={text}>
      {text.slice(0, shownCharacters)}… <CopyButton text={text} />
    </span>
  );
}

/**
 * Returns a text with the person who caused an entry: who answered, voted, patched the context or wrote the outcome by
 * hand. Returns undefined if no person caused the entry.
 */
export function findPerson(entry: ChainEntry): string | undefined {
  const { vote, edited, patched, changes, node_id, node_type } = entry;
  if (edited) return words.edited(edited.by);
  if (patched) return words.patched(patched.by, patched.keys.join(", "));
  const voter = (vote as { by?: unknown; kind?: string } | null | undefined) ?? {};
  if (typeof voter.by === "string") return `${voter.by} (${voter.kind})`;
  if (node_type !== "approval") return undefined;
  const answer = readMembers(asRaw(changes.set).text).get(node_id);
  const by = answer === undefined ? undefined : readString(readMembers(answer).get("by"));
  return by && words.answered(by);
}
