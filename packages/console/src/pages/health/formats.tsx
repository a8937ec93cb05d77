import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/states.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { byKind } from "./by-kind.ts";

const words = texts.health.formats;
const tones: Record<Schemas["StoredFormat"]["state"], string> = {
  current: "ok",
  older: "idle",
  newer: "bad",
  unknown: "bad",
};

/** What is stored. It reads the whole table, so it does so when it is asked to. */
export function Formats(): JSX.Element {
  const nova = useNova();
  const [isAsked, setAsked] = useState(false);
  const formats = useQuery({
    queryKey: ["formats"],
    enabled: isAsked,
    staleTime: 60_000,
    queryFn: async () => byKind(await Array.fromAsync(nova.list("/formats", {}))),
  });
  return (
    <section className="card" aria-labelledby="formats">
      <header className="card-head">
        <h2 id="formats">{words.title}</h2>
        <span className="quiet">{words.hint}</span>
        <span className="card-head-end">
          <Button disabled={formats.isFetching} onClick={() => (isAsked ? void formats.refetch() : setAsked(true))}>
            {words.count}
          </Button>
        </span>
      </header>
      {isAsked && formats.isPending && <Loading lines={5} />}
      {formats.error && <PageFailure error={formats.error} onRetry={() => void formats.refetch()} />}
      {formats.data && (
        <div className="sheet-box">
          <table className="sheet">
            <thead>
              <tr>
                <th scope="col">{words.entity}</th>
                <th scope="col" className="number">
                  {words.format}
                </th>
                <th scope="col" className="number">
                  {words.items}
                </th>
                <th scope="col">{words.state}</th>
              </tr>
            </thead>
            <tbody>
              {formats.data.map(({ entity, format, items, state }) => (
                <tr key={`${entity} ${format}`}>
                  <td>{entity}</td>
                  <td className="number quiet">{format ?? texts.common.none}</td>
                  <td className="number">{items.toLocaleString("en")}</td>
                  <td>
                    <span className={`badge tone-${tones[state]}`}>{words.states[state]}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
