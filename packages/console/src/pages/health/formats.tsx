import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Read } from "../../parts/read.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { texts } from "../../texts.ts";
import { byKind } from "./by-kind.ts";

const words = texts.health.formats;
type Stored = Schemas["StoredFormat"];

const tones: Record<Stored["state"], string> = {
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
    <Card
      title={words.title}
      hint={words.hint}
      end={
        <Button disabled={formats.isFetching} onClick={() => (isAsked ? void formats.refetch() : setAsked(true))}>
          {words.count}
        </Button>
      }
    >
      {isAsked && (
        <Read query={formats} lines={5}>
          {(known) => <Table items={known} columns={columns} keyOf={({ entity, format }) => `${entity} ${format}`} />}
        </Read>
      )}
    </Card>
  );
}

const columns: readonly Column<Stored>[] = [
  { label: words.entity, show: ({ entity }) => entity },
  { label: words.format, show: ({ format }) => format ?? texts.common.none, look: "number quiet" },
  { label: words.items, show: ({ items }) => items.toLocaleString("en"), look: "number" },
  {
    label: words.state,
    show: ({ state }) => <span className={`badge tone-${tones[state]}`}>{words.states[state]}</span>,
  },
];
