/** One run of a measured program: a time limit, an interrupt, and no process left when it is over. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { killRemainingProcesses, markName } from "./remaining-processes.ts";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Limits {
  /** Infinity: none. */
  readonly timeLimitMs: number;
  readonly interrupt: AbortSignal;
}

type ChildEnding =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "time-limit"; readonly ms: number }
  | { readonly kind: "interrupted" }
  | { readonly kind: "not-started"; readonly why: string };

export interface ChildRun {
  readonly ending: ChildEnding;
  /** Milliseconds since 1970 when the program was started. */
  readonly startMs: number;
  /** From the start to the end of the program. */
  readonly ms: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Programs print a few kilobytes; further output is not read. */
const outputCharactersMax = 1 << 20;
/** A runtime that is asked to end cleans up behind itself; after this long it is killed. */
const endPatienceMs = 1_500;
/** A process that outlives the program may hold its output open. */
const closePatienceMs = 500;

/** Never rejects. */
export function runChild({ file, args, env = {} }: Command, { timeLimitMs, interrupt }: Limits): Promise<ChildRun> {
  const mark = randomUUID();
  const startMs = Date.now();
  const start = performance.now();
  if (interrupt.aborted)
    return Promise.resolve({ ending: { kind: "interrupted" }, startMs, ms: 0, stdout: "", stderr: "" } as const);
  // A group of its own: Ctrl-C reaches only the bench, which ends the program in order.
  const child = spawn(file, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, [markName]: mark },
  });
  const stdout = collect(child, "stdout");
  const stderr = collect(child, "stderr");
  return new Promise((resolve) => {
    let forced: ChildEnding | undefined;
    let ms = 0;
    const timers: NodeJS.Timeout[] = [];
    const later = (ms: number, action: () => void): void => {
      timers.push(setTimeout(action, ms));
    };
    const end = (ending: ChildEnding): void => {
      if (forced !== undefined) return;
      forced = ending;
      child.kill("SIGTERM");
      later(endPatienceMs, () => {
        killRemainingProcesses(mark);
        killGroup(child);
      });
    };
    const interrupted = (): void => end({ kind: "interrupted" });
    const settle = (ending: ChildEnding): void => {
      for (const timer of timers) clearTimeout(timer);
      interrupt.removeEventListener("abort", interrupted);
      killRemainingProcesses(mark);
      resolve({ ending: forced ?? ending, startMs, ms, stdout: stdout(), stderr: stderr() });
    };
    interrupt.addEventListener("abort", interrupted);
    if (timeLimitMs < Number.POSITIVE_INFINITY) later(timeLimitMs, () => end({ kind: "time-limit", ms: timeLimitMs }));
    child.on("error", (error) => settle({ kind: "not-started", why: error.message }));
    child.on("exit", () => {
      ms = performance.now() - start;
      later(closePatienceMs, () => killRemainingProcesses(mark));
    });
    child.on("close", (code, signal) =>
      settle(signal === null ? { kind: "exit", code: code ?? 1 } : { kind: "signal", signal }),
    );
  });
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All processes ended by themselves.
  }
}

function collect(child: ChildProcess, stream: "stdout" | "stderr"): () => string {
  let text = "";
  child[stream]?.setEncoding("utf8").on("data", (more: string) => {
    if (text.length < outputCharactersMax) text += more;
  });
  return () => text;
}

/** Why a run does not count, in a few words; undefined when it counts. */
export function describeTrouble({ ending, stderr }: ChildRun): string | undefined {
  const said = stderr
    .split("\n")
    .map((line) => line.trim())
    .find((line) => /[a-z]/i.test(line));
  const why = said === undefined ? "" : `: ${said.slice(0, 200)}`;
  switch (ending.kind) {
    case "exit":
      return ending.code === 0 ? undefined : `exit code ${ending.code}${why}`;
    case "signal":
      return `ended by ${ending.signal}${why}`;
    case "time-limit":
      return `stopped after ${ending.ms / 1000} s`;
    case "interrupted":
      return "interrupted";
    case "not-started":
      return `did not start: ${ending.why}`;
  }
}
