import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Python } from "@nova/e2b-local";
import { docstringsScript } from "@nova/sandbox/files";
import { writeWhole } from "@nova/serve-local";
import { templateName } from "@nova/workflow";
import { findPython, installRequirements, packagesFolder, packagesFolders } from "./python-packages.ts";

/** The template of workflows without requirements: the one that `nova template build` made. */
function baseTemplate(): string {
  return process.env.E2B_TEMPLATE_ID ?? "nova";
}

/**
 * Prepares a workflow's template: the base template, or one with the workflow's requirements. Equal lines share a
 * template.
 */
export async function prepareTemplate(dataDir: string, requirements: readonly string[]): Promise<string> {
  if (requirements.length === 0) return baseTemplate();
  const template = templateName(requirements);
  const own = templateFolder(dataDir, template);
  const index = join(docstringsFolder(dataDir), `${template}.json`);
  if (existsSync(own) && existsSync(index)) return template;
  const python = await findPython(packagesFolders());
  await installRequirements(python, requirements, own);
  await indexDocstrings(python, requirements, [own, packagesFolder(python.version)], index);
  return template;
}

/** The folder of a template's packages. */
export function templateFolder(dataDir: string, template: string): string {
  return join(dataDir, "templates", template);
}

/** The folder of the docstring indexes of templates: `<template>.json`. */
export function docstringsFolder(dataDir: string): string {
  return join(dataDir, "docstrings");
}

/**
 * Indexes the docstrings of a template's packages, as `nova template build` does in E2B. False if Python fails: the
 * index only helps models that write code, no node needs it.
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
