import { type JSX, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { Button } from "../../../parts/button.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { JsonView } from "../../../parts/json-view.tsx";
import { sizeText } from "../../../parts/size.ts";
import { sentenceOf } from "../../../parts/states.tsx";
import { texts } from "../../../texts.ts";
import "./value.css";

/** The execution under which blobs of a value are found. */
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

/** A value of a context; bytes and what is too large are references, which are fetched when somebody wants them. */
export function Value({ name, text, home, open }: ValueProps): JSX.Element {
  const blob = blobIn(text);
  return blob ? <BlobValue name={name} blob={blob} home={home} /> : <JsonView name={name} text={text} open={open} />;
}

/** A reference, and nothing beside it. */
function blobIn(text: string): BlobRef | undefined {
  if (text.length > 300 || !text.includes('"$blob"')) return undefined;
  const found = JSON.parse(text) as { $blob?: Partial<BlobRef> };
  const { sha256, bytes, type } = found.$blob ?? {};
  const isReference =
    Object.keys(found).length === 1 && /^[0-9a-f]{64}$/.test(sha256 ?? "") && typeof bytes === "number";
  return isReference ? { sha256: sha256 as string, bytes: bytes as number, type: type ?? "bytes" } : undefined;
}

function BlobValue({ name, blob, home }: { name: string; blob: BlobRef; home: BlobHome }): JSX.Element {
  const nova = useNova();
  const [trouble, setTrouble] = useState<string>();
  const download = async () => {
    try {
      const params = { path: { id: home.execution, sha256: blob.sha256 } };
      const { url } = await nova.ask(nova.api.GET("/executions/{id}/blobs/{sha256}", { params }));
      await save(url, name);
    } catch (error) {
      setTrouble(sentenceOf(error));
    }
  };
  return (
    <div className="blob">
      <span className="json-name">
        <Foreign text={name} />
      </span>
      <span className="quiet">
        {blob.type}, {sizeText(blob.bytes)}
      </span>
      <Button icon="download" onClick={download}>
        {texts.run.download}
      </Button>
      {trouble && (
        <p className="blob-trouble" role="alert">
          {trouble}
        </p>
      )}
    </div>
  );
}

/** The bytes come from another origin, whose answers a link cannot be told to save. */
async function save(url: string, name: string): Promise<void> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(texts.run.blobGone);
  const address = URL.createObjectURL(new Blob([await answer.blob()], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replaceAll(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
