/**
 * For tests with real processes: starts `bin/banyan.js` as a user would, watches what it prints, and finds whatever it left
 * behind. Everything a run starts inherits a mark in its environment, so runs of other tests are never mistaken for it.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterQuiet, quietNow } from "./patience.ts";

/** No run takes longer, in quiet time (see `patience.ts`). */
export const runMsMax = 30_000;
const launcher = join(process.cwd(), "bin/banyan.js");
const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Writes a program of a test; the name may contain folders. */
export function program(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export function folderOf(name: string): string {
  return join(folder, name);
}

/** A new one with nothing in it but an empty file: for programs that leave files behind. */
export function newFolder(name: string): string {
  return dirname(program(`${name}/empty.txt`, ""));
}

/** As if the process had been started there. */
export async function inFolder<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await act();
  } finally {
    process.chdir(before);
  }
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** From the start of the command. */
  readonly ms: number;
}

export interface StartOptions {
  /** Given at once and closed, unless it is undefined: then the run inherits an input without end. */
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  /** False: the test reads standard output itself. */
  readonly readStdout?: boolean;
  readonly command?: readonly string[];
  /** In quiet time; `runMsMax` unless given. */
  readonly timeoutMs?: number;
}

export class Run {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly #mark = `BANYAN_TEST_MARK=${randomUUID()}`;
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], options: StartOptions = {}) {
    const { stdin, env = {}, readStdout = true, command, timeoutMs = runMsMax } = options;
    const startMs = performance.now();
    const [name, mark] = this.#mark.split("=");
    const [file, ...before] = command ?? [process.execPath, launcher];
    this.child = spawn(file!, [...before, ...args], {
      env: { ...process.env, npm_command: undefined, npm_lifecycle_event: undefined, ...env, [name!]: mark },
    });
    if (stdin !== undefined) this.child.stdin!.end(stdin);
    if (readStdout) this.child.stdout!.setEncoding("utf8").on("data", (text) => (this.#stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text) => (this.#stderr += text));
    const noLimit = afterQuiet(timeoutMs, () => this.child.kill("SIGKILL"));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code, signal) => {
        noLimit();
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr, ms: performance.now() - startMs });
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Waits until standard output contains the text so many times. */
  async printed(text: string, times = 1): Promise<void> {
    await until(() => this.#stdout.split(text).length > times, `"${text}" printed ${times} times`);
  }

  /** Processes of this run that are alive, with their names. */
  processes(): { pid: number; name: string }[] {
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .flatMap((pid) => {
        try {
          if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(this.#mark)) return [];
          const name = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
          return name === "" ? [] : [{ pid: Number(pid), name }];
        } catch {
          return [];
        }
      });
  }

  nodePid(node: number): number {
    return this.pidOf(`banyan-node ${node}`);
  }

  pidOf(title: string): number {
    const found = this.processes().find(({ name }) => name === title);
    assert(found !== undefined, `${title} is running`);
    return found.pid;
  }

  assertNothingLeft(): void {
    assert.deepEqual(this.processes(), []);
  }
}

/** One whole run that leaves nothing behind. */
export async function banyan(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  const run = new Run(args, { stdin: "", ...options });
  const ended = await run.ended;
  run.assertNothingLeft();
  return ended;
}

/** Waits for a condition of another process, which can only be asked for again and again. The limit is in quiet time. */
export async function until(holds: () => boolean, what: string, msMax = runMsMax): Promise<void> {
  const startMs = quietNow();
  while (!holds()) {
    assert(quietNow() - startMs < msMax, `waited ${msMax} ms in vain until: ${what}`);
    await sleep(10);
  }
}

export function sorted(text: string): string[] {
  return text.split("\n").filter(Boolean).sort();
}

/** What we said ourselves, without the summary line. */
export function messages(stderr: string): string[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("banyan: ") && !/ ranks? on \d+ nodes?, .*, exit \d+$/.test(line));
}
