/**
 * The nodes of a run that is still starting, seen from outside: how far each of them is, from what Linux says of its process. A
 * node that is stopped (`SIGSTOP`) stays where it is, so that a test can have it exactly there when something else happens.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Run } from "./harness.ts";
import { quietNow } from "./patience.ts";

/**
 * "nameless": the process is there and has not been told which node it is. "named": it has, and nobody can connect to it yet.
 * "listening": others can.
 */
export type NodePhase = "nameless" | "named" | "listening";

export interface StartingNode {
  readonly pid: number;
  /** As it calls itself; null: it does not yet, and its processes are in the order of their numbers. */
  readonly node: number | null;
}

const runMsMax = 60_000;

/** In the order in which they were started. */
export function nodesOf(run: Run): StartingNode[] {
  return childrenOf(run.child.pid!)
    .map((pid) => ({ pid, name: textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }))
    .filter(({ name }) => /agent\.cjs|^banyan-node/.test(name))
    .sort((a, b) => a.pid - b.pid)
    .map(({ pid, name }) => ({ pid, node: numberIn(name) }));
}

/** Stops the process that `find` finds as soon as it is in that phase; undefined: it was further already. */
export async function stopIn(
  run: Run,
  phase: Exclude<NodePhase, "listening">,
  find: (nodes: readonly StartingNode[]) => StartingNode | undefined,
): Promise<number | undefined> {
  const found = await seen(run, () => {
    const node = find(nodesOf(run));
    return node !== undefined && (phase === "nameless" || node.node !== null) ? node : undefined;
  });
  process.kill(found.pid, "SIGSTOP");
  if (phaseOf(found.pid) === phase) return found.pid;
  process.kill(found.pid, "SIGCONT");
  return undefined;
}

/** The process of that node, when others can connect to it; one that had its place before does not count. */
export function listeningNode(run: Run, node: number, before = 0): Promise<number> {
  return seen(run, () => nodesOf(run).find((it) => it.node === node && it.pid !== before && isListening(it.pid))?.pid);
}

/** Asks again and again, without a pause: what is looked for may last for milliseconds. */
async function seen<T>(run: Run, look: () => T | undefined): Promise<T> {
  const startMs = quietNow();
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    assert(run.child.exitCode === null, `the job is over: ${run.stderr}`);
    assert(quietNow() - startMs < runMsMax, `waited in vain for a node that starts: ${run.stderr}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function phaseOf(pid: number): NodePhase {
  if (isListening(pid)) return "listening";
  return /^banyan-node \d/.test(textOf(`/proc/${pid}/cmdline`)) ? "named" : "nameless";
}

const isListening = (pid: number): boolean => listeningSockets(pid) > 0;

/** How many sockets the process has to which others can connect. */
export function listeningSockets(pid: number): number {
  const listening = new Set(
    ["tcp", "tcp6"]
      .flatMap((table) => textOf(`/proc/${pid}/net/${table}`).split("\n"))
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === "0A")
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return ofProcess(() => readdirSync(`/proc/${pid}/fd`), []).filter((fd) =>
    listening.has(ofProcess(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "")),
  ).length;
}

function childrenOf(pid: number): number[] {
  return ofProcess(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

function numberIn(name: string): number | null {
  const found = /^banyan-node (\d+)/.exec(name);
  return found === null ? null : Number(found[1]);
}

const textOf = (path: string): string => ofProcess(() => readFileSync(path, "latin1"), "");

/** A process may be gone when it is asked. */
function ofProcess<T>(ask: () => T, otherwise: T): T {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}
