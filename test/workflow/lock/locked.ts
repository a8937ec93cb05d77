import { hashOf, type LockedCode, type LockRecord, lockText } from "@nova/workflow";

export const code = 'context["total"] = 7';

export function record(fields: Partial<LockRecord> = {}): LockRecord {
  return {
    key: "a".repeat(64),
    codeHash: hashOf(code),
    origin: "generated",
    model: "gpt-6-luna",
    cost: { usd: 0.0012, tokens_input: 900, tokens_cached: 400, tokens_output: 120 },
    createdAt: "2026-11-22T10:00:00.000Z",
    provenBy: "exec_01",
    ingredients: {
      prompt: "Add up the lines.",
      node_type: "action",
      edges: [],
      reads: { lines: "list", "order.discount?": "number" },
      generator: "1",
      guides: { money: "b".repeat(64), csv: "c".repeat(64) },
      model: "default",
      settings: "",
      template: "1",
      requirements: [],
      lib: {},
    },
    ...fields,
  };
}

export function locked(fields: Partial<LockRecord> = {}): LockedCode {
  return { ...record(fields), code };
}

/** The files of a folder with one locked node. `file` is the content of `generated/sum.py`; null for none. */
export function lockFiles(fields: Partial<LockRecord> = {}, file: string | null = `${code}\n`): Record<string, string> {
  const generated: Record<string, string> = file === null ? {} : { "generated/sum.py": file };
  return { "workflow.lock.json": lockText({ sum: record(fields) }), ...generated };
}
