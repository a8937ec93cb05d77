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
  nav?: { label: string; icon: IconName; key: string };
}

/** All pages. Every page except the first is loaded on demand. */
export const pages: readonly Page[] = [
  { path: "/", component: RunsPage, nav: { label: texts.nav.runs, icon: "runs", key: "g r" } },
  {
    path: "/runs/:id",
    component: lazyComponent(async () => (await import("./run/run-page.tsx")).RunPage),
  },
  {
    path: "/tasks",
    component: lazyComponent(async () => (await import("./tasks/tasks-page.tsx")).TasksPage),
    nav: { label: texts.nav.tasks, icon: "task", key: "g t" },
  },
  {
    path: "/tasks/:id",
    component: lazyComponent(async () => (await import("./tasks/task-page.tsx")).TaskPage),
  },
  {
    path: "/workflows",
    component: lazyComponent(async () => (await import("./workflows/workflows-page.tsx")).WorkflowsPage),
    nav: { label: texts.nav.workflows, icon: "flow", key: "g w" },
  },
  {
    path: "/workflows/:id/:tab?",
    component: lazyComponent(async () => (await import("./workflow/workflow-page.tsx")).WorkflowPage),
  },
  {
    path: "/sessions",
    component: lazyComponent(async () => (await import("./sessions/sessions-page.tsx")).SessionsPage),
    nav: { label: texts.nav.sessions, icon: "change", key: "g s" },
  },
  {
    path: "/sessions/:id",
    component: lazyComponent(async () => (await import("./session/session-page.tsx")).SessionPage),
  },
  {
    path: "/code",
    component: lazyComponent(async () => (await import("./code/code-page.tsx")).CodePage),
    nav: { label: texts.nav.code, icon: "code", key: "g l" },
  },
  {
    path: "/clients",
    component: lazyComponent(async () => (await import("./clients/clients-page.tsx")).ClientsPage),
    nav: { label: texts.nav.clients, icon: "people", key: "g c" },
  },
  {
    path: "/clients/:slug",
    component: lazyComponent(async () => (await import("./clients/clients-page.tsx")).ClientPage),
  },
  {
    path: "/costs",
    component: lazyComponent(async () => (await import("./costs/costs-page.tsx")).CostsPage),
    nav: { label: texts.nav.costs, icon: "coins", key: "g m" },
  },
  {
    path: "/keys",
    component: lazyComponent(async () => (await import("./keys/keys-page.tsx")).KeysPage),
    nav: { label: texts.nav.keysPage, icon: "key", key: "g k" },
  },
  {
    path: "/audit",
    component: lazyComponent(async () => (await import("./audit/audit-page.tsx")).AuditPage),
    nav: { label: texts.nav.audit, icon: "list", key: "g a" },
  },
  {
    path: "/health",
    component: lazyComponent(async () => (await import("./health/health-page.tsx")).HealthPage),
    nav: { label: texts.nav.health, icon: "pulse", key: "g h" },
  },
];
