import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { docstringsScript } from "@nova/sandbox/files";
import { writeWhole } from "../disk/whole-file.ts";
import type { Python } from "../e2b/python.ts";

/** Where a data folder keeps what is documented in its templates: `<template>.json`. */
export function docstringsFolder(dataDir: string): string {
  return join(dataDir, "docstrings");
}

/**
 * Indexes the docstrings of a template's packages, as `nova template build` does inside of E2B's. False where Python could
 * not: the index is a help to who writes code, and no node needs it to run.
 */
export async function indexDocstrings(
  python: Python,
  requirements: readonly string[],
  sites: readonly string[],
  file: string,
): Promise<boolean> {
  const options = {
    env: { ...process.env, PYTHONPATH: sites.join(delimiter) },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  };
  try {
    const { stdout } = await promisify(execFile)(python.path, [docstringsScript, ...requirements], options);
    await mkdir(dirname(file), { recursive: true });
    writeWhole(file, stdout);
    return true;
  } catch {
    return false;
  }
}
