import type { Client } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { type JSX, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { exportLines } from "./export-lines.ts";

const words = texts.clients.danger;

/** What takes a client away, or a copy of it. */
export function Danger({ client: { slug } }: { client: Client }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [isAsked, setAsked] = useState(false);
  const remove = async () => {
    await nova.clients.delete(slug);
    await queries.invalidateQueries({ queryKey: ["clients"] });
    go(`/clients?deleted=${slug}`);
  };
  const command = `nova export --client ${slug} ${slug}-copy`;
  return (
    <Card title={words.title}>
      <div className="card-body client-danger">
        <div>
          <p className="quiet">{words.exportHint}</p>
          <div className="command-line">
            <code>{command}</code>
            <CopyButton text={command} />
          </div>
          <Download slug={slug} />
        </div>
        <div>
          <p className="quiet">{words.deleteHint}</p>
          <Button icon="bin" tone="danger" onClick={() => setAsked(true)}>
            {words.delete}
          </Button>
        </div>
      </div>
      {isAsked && (
        <Confirm
          title={words.confirmDelete(slug)}
          does={words.delete}
          typed={slug}
          act={remove}
          onClose={() => setAsked(false)}
        >
          <p className="quiet">{words.deleteHint}</p>
        </Confirm>
      )}
    </Card>
  );
}

/** Reads page by page; what was read is handed to the browser as one file. */
function Download({ slug }: { slug: string }): JSX.Element {
  const nova = useNova();
  const [count, setCount] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    stop.current = controller;
    setError(undefined);
    setCount(0);
    try {
      const lines: string[] = [];
      for await (const page of exportLines(nova, slug, controller.signal)) {
        lines.push(...page);
        setCount(lines.length);
      }
      save(`${slug}.jsonl`, lines);
    } catch (refused) {
      if (!controller.signal.aborted) setError(refused);
    }
    setCount(undefined);
  };
  return (
    <>
      <div className="client-export">
        <Button icon="download" disabled={count !== undefined} onClick={start}>
          {count === undefined ? words.export : words.exporting(count)}
        </Button>
        {count !== undefined && (
          <Button tone="ghost" onClick={() => stop.current?.abort()}>
            {words.stop}
          </Button>
        )}
      </div>
      <Trouble error={error} />
    </>
  );
}

function save(name: string, lines: readonly string[]): void {
  const address = URL.createObjectURL(
    new Blob(
      lines.map((line) => `${line}\n`),
      { type: "application/jsonl" },
    ),
  );
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
