import { type JSX, useEffect, useState } from "react";
import { texts } from "../../texts.ts";
import { CodeLines } from "../code-lines.tsx";
import { Foreign } from "../foreign.tsx";
import { JsonView } from "../json-view.tsx";
import { Loading } from "../states.tsx";
import { csvRows } from "./csv.ts";
import { type Shown, shownAs } from "./kind.ts";
import { sheetRows } from "./xlsx.ts";
import "./preview.css";

interface PreviewProps {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  type: string;
  /** An address at which another origin shows the bytes as a PDF. */
  pdf(): Promise<string>;
}

const maxRows = 50;
const longestText = 100_000;

/** Bytes as people read them. Nothing in them is run: pictures are pictures, a PDF is shown by another origin. */
export function Preview({ bytes, name, type, pdf }: PreviewProps): JSX.Element {
  const shown = useShown(bytes, name, type);
  if (!shown) return <Loading lines={3} />;
  if (shown.as === "image") return <Picture bytes={bytes} type={shown.type} name={name} />;
  if (shown.as === "pdf") return <Pdf name={name} address={pdf} />;
  if (shown.as === "sheet") return <Sheet bytes={bytes} />;
  if (shown.as === "json") return <JsonView text={shown.text} />;
  if (shown.as === "csv") return <Table rows={csvRows(shown.text, maxRows)} />;
  if (shown.as === "text") return <CodeLines code={shown.text.slice(0, longestText)} />;
  return <p className="quiet">{texts.preview.none}</p>;
}

/** Found out in a task of its own: megabytes are read for it. */
function useShown(bytes: Uint8Array<ArrayBuffer>, name: string, type: string): Shown | undefined {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    const timer = setTimeout(() => setShown(shownAs(bytes, name, type)));
    return () => clearTimeout(timer);
  }, [bytes, name, type]);
  return shown;
}

/** An image runs no scripts, whatever an SVG holds. */
function Picture({ bytes, type, name }: { bytes: Uint8Array<ArrayBuffer>; type: string; name: string }): JSX.Element {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return <>{address && <img className="preview-picture" src={address} alt={name} />}</>;
}

function Pdf({ name, address }: { name: string; address(): Promise<string> }): JSX.Element {
  const [url, setUrl] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address lasts longer than the preview
  useEffect(() => {
    address().then(setUrl, () => undefined);
  }, []);
  return <>{url && <iframe className="preview-pdf" src={url} title={name} referrerPolicy="no-referrer" />}</>;
}

function Sheet({ bytes }: { bytes: Uint8Array<ArrayBuffer> }): JSX.Element {
  const [rows, setRows] = useState<string[][] | null>();
  useEffect(() => {
    sheetRows(bytes, maxRows).then(
      (found) => setRows(found ?? null),
      () => setRows(null),
    );
  }, [bytes]);
  if (rows === null) return <p className="quiet">{texts.preview.none}</p>;
  return <>{rows && <Table rows={rows} />}</>;
}

function Table({ rows }: { rows: readonly (readonly string[])[] }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the panel is reached by keys
    <div className="preview-table" tabIndex={0} role="group" aria-label={texts.preview.table(rows.length)}>
      <table>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file never move
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: nor do cells
                <td key={column}>
                  <Foreign text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
