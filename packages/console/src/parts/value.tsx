import { type JSX, useMemo, useState } from "react";
import { useIsByLink, useNova } from "../api/nova.ts";
import type { Root } from "../json/tree.ts";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { JsonTree } from "./json-view.tsx";
import { describeError, lazyComponent } from "./states.tsx";
import { formatBytes } from "./time.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

const Preview = lazyComponent(async () => (await import("./preview.tsx")).Preview);

/** The execution that owns the blobs of a value. */
export interface BlobHome {
  execution: string;
}

interface BlobRef {
  sha256: string;
  bytes: number;
  type: string;
}

interface ValueProps {
  name: string;
  text: string;
  home: BlobHome;
  open: number;
}

export function Value({ name, text, home, open }: ValueProps): JSX.Element {
  return <Values roots={useMemo(() => [{ key: name, text, open }], [name, text, open])} home={home} />;
}

/** Shows values of a context. Bytes and large values are references, which are fetched on demand. */
export function Values({ roots, home }: { roots: readonly Root[]; home: BlobHome }): JSX.Element {
  const showBlob = (name: string, text: string) => {
    const blob = parseBlob(text);
    return blob && <BlobValue name={name} blob={blob} home={home} />;
  };
  return <JsonTree roots={roots} show={showBlob} />;
}

/** Parses a value that is only a reference to a blob; undefined for any other value. */
function parseBlob(text: string): BlobRef | undefined {
  if (text.length > 300 || !text.includes('"$blob"')) return undefined;
  const value = JSON.parse(text) as { $blob?: Partial<BlobRef> };
  const { sha256, bytes, type } = value.$blob ?? {};
  const isReference =
    Object.keys(value).length === 1 && /^[0-9a-f]{64}$/.test(sha256 ?? "") && typeof bytes === "number";
  return isReference ? { sha256: sha256 as string, bytes: bytes as number, type: type ?? "bytes" } : undefined;
}

/** Maximum size of a blob that can be previewed. */
const maxPreviewBytes = 20_000_000;

function BlobValue({ name, blob, home }: { name: string; blob: BlobRef; home: BlobHome }): JSX.Element {
  const nova = useNova();
  const isByLink = useIsByLink();
  const [problem, setProblem] = useState<string>();
  const [bytes, setBytes] = useState<Uint8Array<ArrayBuffer>>();
  const address = async (as?: "application/pdf") => {
    const params = { path: { id: home.execution, sha256: blob.sha256 }, query: as ? { as } : {} };
    return (await nova.ask(nova.api.GET("/executions/{id}/blobs/{sha256}", { params }))).url;
  };
  const fetchBytes = async (onBytes: (bytes: Uint8Array<ArrayBuffer>) => void) => {
    try {
      setProblem(undefined);
      const answer = await fetch(await address());
      if (!answer.ok) throw new Error(texts.run.blobGone);
      onBytes(new Uint8Array(await answer.arrayBuffer()));
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  // With this general media type, no browser opens the bytes as a page of this origin.
  const saveBytes = (value: Uint8Array<ArrayBuffer>) =>
    saveFile(name.replaceAll(/[^\w.-]+/g, "_"), new Blob([value], { type: "application/octet-stream" }));
  return (
    <div className="blob line small">
      <span className="json-name">
        <UntrustedText text={name} />
      </span>
      <span className="quiet">
        {blob.type}, {formatBytes(blob.bytes)}
      </span>
      {isByLink && <span className="quiet">{texts.tasks.link.noBlob}</span>}
      {!isByLink && blob.bytes <= maxPreviewBytes && (
        <Button
          aria-expanded={bytes !== undefined}
          onClick={() => (bytes ? setBytes(undefined) : fetchBytes(setBytes))}
        >
          {bytes ? texts.preview.hide : texts.preview.show}
        </Button>
      )}
      {!isByLink && (
        <Button icon="download" onClick={() => fetchBytes(saveBytes)}>
          {texts.run.download}
        </Button>
      )}
      {problem && (
        <p className="whole bad" role="alert">
          {problem}
        </p>
      )}
      {bytes && (
        <div className="blob-preview whole">
          <Preview bytes={bytes} name={name} type={blob.type} pdf={() => address("application/pdf")} />
        </div>
      )}
    </div>
  );
}

/** Saves a file. */
export function saveFile(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  // Ten seconds later the browser has read the file, so its address can be removed.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
