/**
 * The files of a simulated job, and what each rank has done to them in the history that counts in the end: a later life that does a
 * step again says what the step is now. The same steps, done once each on files of their own, must leave the same.
 */
import { newLog, runSteps } from "../script/file-steps.ts";
import type { FileOp } from "../script/script.ts";
import { FileSystem } from "./file-system.ts";
import { sharedFolder } from "./shared-files.ts";

interface Done {
  readonly op: FileOp;
  readonly text: string;
  readonly told: readonly number[];
}

/** When jobs begin, on the clock of the files. */
export const beganMs = 10_000;

const folderOf = (rank: number): string => `/rank-${rank}`;
const inputOf = (rank: number): string => `what was there before rank ${rank}`;

export class RankFiles {
  readonly system: FileSystem;
  readonly #done: Done[][];
  /** Steps done, in all lives; and steps that had to wait first. */
  readonly counts = { done: 0, heldBack: 0 };

  constructor(ranks: number, nowNs: () => number) {
    this.system = new FileSystem(() => BigInt(beganMs * 1e6 + Math.round(nowNs())));
    this.#done = Array.from({ length: ranks }, () => []);
    for (let rank = 0; rank < ranks; rank++) putInput(this.system, rank);
  }

  folderOf(rank: number): string {
    return folderOf(rank);
  }

  /** The rank has done that, in whichever life, and was told this. */
  done(rank: number, number: number, done: Done): void {
    this.counts.done++;
    this.#done[rank]![number] = done;
  }

  doneBy(rank: number): readonly Done[] {
    return this.#done[rank]!;
  }

  /** What is different from a run in which everything was done once. */
  problems(dead: ReadonlySet<number>): string[] {
    const once = new FileSystem(() => BigInt(beganMs * 1e6));
    const problems: string[] = [];
    for (const [rank, all] of this.#done.entries()) {
      putInput(once, rank);
      const log = newLog();
      for (const [number, { op, text, told }] of all.entries()) {
        const wanted = runSteps(once, { op, text, log, folder: folderOf(rank) });
        if (dead.has(rank) || String(wanted) === String(told)) continue;
        problems.push(`step ${number} of rank ${rank}, ${op.does}, said ${told}, and once ${wanted}`);
      }
    }
    // A rank that died may have done the half of a step.
    const isJudged = (file: string): boolean =>
      !file.startsWith(sharedFolder) && ![...dead].some((rank) => file.startsWith(`${folderOf(rank)}/`));
    return [...problems, ...differences(this.system.tree().filter(isJudged), once.tree().filter(isJudged))];
  }
}

function differences(found: readonly string[], wanted: readonly string[]): string[] {
  const left = found.filter((file) => !wanted.includes(file));
  const missing = wanted.filter((file) => !found.includes(file));
  if (left.length === 0 && missing.length === 0) return [];
  return [`there is ${JSON.stringify(left)}, and once there were ${JSON.stringify(missing)} instead`];
}

function putInput(system: FileSystem, rank: number): void {
  system.put(`${folderOf(rank)}/input`, new TextEncoder().encode(inputOf(rank)));
}
