import type { Client, NovaClient } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useEffect, useRef, useState } from "react";
import { useLocation, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button, CopyButton } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Card, Missing, PageHead } from "../../parts/page.tsx";
import { ErrorNote, isNotFound, QueryView } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { Credentials } from "./credentials.tsx";
import { Pins, Quotas, Settings, Variables } from "./sections.tsx";

const words = texts.clients;

/** One client: credentials, settings, variables, quotas and pinned versions. */
export function ClientPage(): JSX.Element {
  const { slug = "" } = useParams<{ slug: string }>();
  const nova = useNova();
  const query = useQuery({ queryKey: ["client", slug], queryFn: () => nova.clients.get(slug) });
  const { data, error } = query;
  if (isNotFound(error)) return <Missing words={words} to="/clients" />;
  return (
    <>
      <PageHead
        title={data ? <UntrustedText text={data.name} /> : words.one(slug)}
        back={{ to: "/clients", label: words.back }}
        end={
          data && (
            <span className="quiet">
              {words.columns.created} <Time at={data.created_at} />
            </span>
          )
        }
      >
        <span className="mono quiet">{slug}</span>
      </PageHead>
      <div className="page-body">
        <QueryView query={query}>
          {(client) => (
            <div key={slug} className="page-column">
              <Credentials owner={{ client: slug }} />
              <div className="client-parts">
                <Settings client={client} />
                <Variables client={client} />
                <Quotas client={client} />
                <Pins client={client} />
              </div>
              <Danger client={client} />
            </div>
          )}
        </QueryView>
      </div>
    </>
  );
}

const dangerWords = texts.clients.danger;

/** Exports or deletes a client. */
export function Danger({ client: { slug } }: { client: Client }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [isConfirming, setConfirming] = useState(false);
  const remove = async () => {
    await nova.clients.delete(slug);
    await queries.invalidateQueries({ queryKey: ["clients"] });
    go(`/clients?deleted=${slug}`);
  };
  const command = `nova export --client ${slug} ${slug}-copy`;
  return (
    <Card title={dangerWords.title}>
      <div className="card-body client-danger">
        <div>
          <p className="quiet">{dangerWords.exportHint}</p>
          <div className="command-line">
            <code>{command}</code>
            <CopyButton text={command} />
          </div>
          <Download slug={slug} />
        </div>
        <div>
          <p className="quiet">{dangerWords.deleteHint}</p>
          <Button icon="bin" tone="danger" onClick={() => setConfirming(true)}>
            {dangerWords.delete}
          </Button>
        </div>
      </div>
      {isConfirming && (
        <ConfirmDialog
          title={dangerWords.confirmDelete(slug)}
          action={dangerWords.delete}
          requiredText={slug}
          onConfirm={remove}
          onClose={() => setConfirming(false)}
        >
          <p className="quiet">{dangerWords.deleteHint}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

/** Reads the export page by page, and saves it as one file. */
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
      for await (const page of readExport(nova, slug, controller.signal)) {
        lines.push(...page);
        setCount(lines.length);
      }
      saveLines(`${slug}.jsonl`, lines);
    } catch (cause) {
      if (!controller.signal.aborted) setError(cause);
    }
    setCount(undefined);
  };
  return (
    <>
      <div className="client-export">
        <Button icon="download" disabled={count !== undefined} onClick={start}>
          {count === undefined ? dangerWords.export : dangerWords.exporting(count)}
        </Button>
        {count !== undefined && (
          <Button tone="ghost" onClick={() => stop.current?.abort()}>
            {dangerWords.stop}
          </Button>
        )}
      </div>
      <ErrorNote error={error} />
    </>
  );
}

function saveLines(name: string, lines: readonly string[]): void {
  const address = URL.createObjectURL(
    new Blob(
      lines.map((line) => `${line}\n`),
      { type: "application/jsonl" },
    ),
  );
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  // By then the browser has read the file.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Reads the export of a client. Each record is a line of JSON; the last line is the seal over all records. */
export async function* readExport(nova: NovaClient, slug: string, signal: AbortSignal): AsyncGenerator<string[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? {} : { cursor };
    const params = { path: { slug }, query };
    const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params, signal }));
    yield page.items.map((item) => JSON.stringify(item));
    if (page.seal !== undefined) yield [JSON.stringify({ kind: "seal", seal: page.seal })];
    cursor = page.next_cursor;
  }
}
