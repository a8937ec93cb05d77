import type { ComponentType } from "react";
import type { IconName } from "../parts/icon.tsx";
import { lazyComponent } from "../parts/states.tsx";
import { texts } from "../texts.ts";
import { RunsPage } from "./runs/runs-page.tsx";

interface Page {
  /** The path below `/console`, in wouter's syntax. */
  path: string;
  component: ComponentType;
  /** The navigation entry; absent for pages that other pages link to. */
  nav?: { label: string; icon: IconName; key: string } | undefined;
}

type LazyPage = [path: string, load: () => Promise<ComponentType>, ...nav: [] | [string, IconName, string]];

const { nav } = texts;

const lazyPages: LazyPage[] = [
  ["/runs/:id", async () => (await import("./run/run-page.tsx")).RunPage],
  ["/tasks", async () => (await import("./tasks/tasks-page.tsx")).TasksPage, nav.tasks, "task", "g t"],
  ["/tasks/:id", async () => (await import("./tasks/tasks-page.tsx")).TaskPage],
  [
    "/workflows",
    async () => (await import("./workflows/workflows-page.tsx")).WorkflowsPage,
    nav.workflows,
    "flow",
    "g w",
  ],
  ["/workflows/:id/:tab?", async () => (await import("./workflow/workflow-page.tsx")).WorkflowPage],
  ["/sessions", async () => (await import("./sessions/sessions-page.tsx")).SessionsPage, nav.sessions, "change", "g s"],
  ["/sessions/:id", async () => (await import("./session/session-page.tsx")).SessionPage],
  ["/overview", async () => (await import("./overview/overview-page.tsx")).OverviewPage, nav.overview, "tiles", "g o"],
  [
    "/failures",
    async () => (await import("./failures/failures-page.tsx")).FailuresPage,
    nav.failures,
    "warning",
    "g f",
  ],
  ["/code", async () => (await import("./code/code-page.tsx")).CodePage, nav.code, "code", "g l"],
  ["/clients", async () => (await import("./clients/clients-page.tsx")).ClientsPage, nav.clients, "people", "g c"],
  ["/clients/:slug", async () => (await import("./clients/clients-page.tsx")).ClientPage],
  ["/costs", async () => (await import("./costs/costs-page.tsx")).CostsPage, nav.costs, "coins", "g m"],
  ["/keys", async () => (await import("./keys/keys-page.tsx")).KeysPage, nav.keysPage, "key", "g k"],
  ["/audit", async () => (await import("./audit/audit-page.tsx")).AuditPage, nav.audit, "list", "g a"],
  ["/health", async () => (await import("./health/health-page.tsx")).HealthPage, nav.health, "pulse", "g h"],
];

/** All pages. Every page except the first is loaded on demand. */
export const pages: readonly Page[] = [
  { path: "/", component: RunsPage, nav: { label: nav.runs, icon: "runs", key: "g r" } },
  ...lazyPages.map(([path, load, label, icon, key]): Page => {
    return { path, component: lazyComponent(load), nav: label && icon && key ? { label, icon, key } : undefined };
  }),
];
