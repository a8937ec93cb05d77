import type { Delivery, Schemas } from "@nova/client";
import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useList, usePages, useReload } from "../../api/queries.ts";
import { readApiUrl } from "../../api/session.ts";
import { readString } from "../../json/raw.ts";
import { Button, CopyButton } from "../../parts/button.tsx";
import { FilterSelect, useAddress } from "../../parts/filters.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Card, PageColumn } from "../../parts/page.tsx";
import { Empty, ErrorNote, ListView, LoadMore, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { parseTriggers, type Trigger } from "./definition.ts";
import { useWorkflow, type WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.triggers;
const { kinds } = texts.build.triggers;

export function TriggersTab({ workflow }: { workflow: WholeWorkflow }) {
  const { id, active_version: active, version } = workflow;
  const query = useWorkflow(id, active ?? version);
  const schedules = useList("/schedules", { query: { workflow: id } }, { refetchInterval: schedulesPauseMs });
  return (
    <QueryView query={query}>
      {(data) => (
        <PageColumn>
          <section aria-label={words.title}>
            {parseTriggers(data).length === 0 ? (
              <div className="card">
                <Empty icon="play" title={words.empty} hint={words.emptyHint} />
              </div>
            ) : (
              <ul className="cards">
                {parseTriggers(data).map((trigger) => (
                  <TriggerCard
                    key={trigger.id}
                    workflow={id}
                    trigger={trigger}
                    schedule={schedules.data?.find((schedule) => schedule.trigger === trigger.id)}
                  />
                ))}
              </ul>
            )}
          </section>
          <Deliveries workflow={id} />
        </PageColumn>
      )}
    </QueryView>
  );
}

type Schedule = Schemas["Schedule"];

const icons: Record<string, IconName> = {
  mail: "mail",
  imap: "mail",
  webhook: "link",
  schedule: "clock",
  event: "spark",
};

interface TriggerCardProps {
  workflow: string;
  trigger: Trigger;
  schedule: Schedule | undefined;
}

/** One trigger: its address or schedule, and its other settings. */
function TriggerCard({ workflow, trigger, schedule }: TriggerCardProps) {
  const { id, type, fields } = trigger;
  const kind = type in kinds ? kinds[type as keyof typeof kinds] : type;
  const excluded = new Set(type === "schedule" ? ["when", "timezone"] : type === "mail" ? ["address"] : []);
  const otherFields = Array.from(fields).filter(([name]) => !excluded.has(name));
  return (
    <li className="card trigger">
      <header className="line">
        <span className="disc square tone-accent">
          <Icon name={icons[type] ?? "play"} />
        </span>
        <h2>{kind}</h2>
        <UntrustedText as="span" className="mono quiet" text={id} />
        {schedule && (
          <span className="actions">
            <ScheduleSwitch workflow={workflow} schedule={schedule} />
          </span>
        )}
      </header>
      <Place trigger={trigger} />
      {schedule && <Times schedule={schedule} />}
      {otherFields.map(([name, text]) => (
        <JsonView key={name} name={name} text={text} open={0} />
      ))}
    </li>
  );
}

function Place({ trigger: { id, type, fields } }: { trigger: Trigger }) {
  if (type === "mail") {
    return (
      <UntrustedText
        as="p"
        className="mono trigger-place line break"
        text={words.mailTo(readString(fields.get("address")) ?? "")}
      />
    );
  }
  if (type !== "webhook") return null;
  const address = `${readApiUrl().replace(/\/$/, "")}/hooks/${encodeURIComponent(id)}`;
  return (
    <p className="mono trigger-place line break">
      POST {address}
      <CopyButton text={address} />
    </p>
  );
}

function Times({ schedule: { expression, timezone, next_at, paused_at } }: { schedule: Schedule }) {
  const next = next_at === null ? words.never : words.next;
  const at = paused_at ?? next_at;
  return (
    <p className="trigger-place line break">
      <span className="mono">{expression}</span>
      <span className="quiet">{timezone}</span>
      <span className={paused_at === null ? undefined : "tone-wait toned"}>
        {paused_at === null ? next : words.pausedSince} {at !== null && <Time at={at} />}
      </span>
    </p>
  );
}

function ScheduleSwitch({ workflow, schedule }: { workflow: string; schedule: Schedule }) {
  const { api, ask } = useNova();
  const reload = useReload();
  const isPaused = schedule.paused_at !== null;
  const act = isPaused ? "resume" : "pause";
  const params = { path: { id: workflow, trigger: schedule.trigger } };
  const toggle = useMutation({
    mutationFn: () => ask(api.POST(`/workflows/{id}/schedules/{trigger}/${act}`, { params })),
    onSuccess: () => reload(["/schedules"]),
  });
  return (
    <>
      <ErrorNote error={toggle.error} />
      <Button
        icon={isPaused ? "play" : "pause"}
        aria-label={words[`${act}Schedule`](schedule.trigger)}
        onClick={() => toggle.mutate()}
      >
        {texts.workflows[act]}
      </Button>
    </>
  );
}

const pageSize = 50;
const pauseMs = 8_000;
const schedulesPauseMs = 15_000;

type Status = Delivery["status"];

const tones: Record<Status, string> = { started: "ok", accepted: "run", refused: "wait", failed: "bad" };
const statuses = Object.keys(tones) as Status[];

/** Lists all deliveries. Each row shows the run that the delivery started, or the reason why it started no run. */
function Deliveries({ workflow }: { workflow: string }) {
  const [address, change] = useAddress(["status"]);
  const status = statuses.find((one) => one === address.status);
  const request = { query: { workflow, status, limit: pageSize } };
  const query = usePages("/deliveries", request, { refetchInterval: pauseMs });
  const empty = { empty: words.noDeliveries, emptyHint: words.noDeliveriesHint };
  const noneFit = { empty: words.noneFit, emptyHint: words.noneFitHint };
  return (
    <Card
      title={words.deliveries}
      end={
        <FilterSelect
          label={texts.runs.columns.status}
          value={status}
          values={Object.entries(words.statuses)}
          onChange={(to) => change({ status: to })}
        />
      }
    >
      <ListView query={query} lines={4} icon="download" words={status === undefined ? empty : noneFit}>
        {(items) => <Table items={items} columns={deliveryColumns} keyOf={({ id }) => id} />}
      </ListView>
      {query.hasNextPage && (
        <div className="card-body">
          <LoadMore query={query} label={words.more} />
        </div>
      )}
    </Card>
  );
}

const deliveryColumns: readonly Column<Delivery>[] = [
  [words.columns.at, ({ at }) => <Time at={at} />, "fixed quiet"],
  [words.columns.status, ({ status }) => <Badge tone={tones[status]} text={words.statuses[status]} />, "fixed"],
  [words.columns.trigger, ({ trigger, type }) => trigger ?? kinds[type], "wide"],
  [
    words.columns.from,
    ({ from, about }) => (
      <>
        <UntrustedText as="span" className="delivery-from ellipsis" text={from} />
        <UntrustedText as="span" className="delivery-from ellipsis quiet small" text={about} />
      </>
    ),
    "wide",
  ],
  [
    words.columns.result,
    ({ execution_id, reason }) => (
      <span className="delivery-result">
        {execution_id !== null && <Link href={`/runs/${execution_id}`}>{texts.run.open}</Link>}
        {reason !== null && <UntrustedText text={reason} />}
      </span>
    ),
  ],
];
