/**
 * Checkpoints of one world of replicas in a real job (core/service/world-checkpoints.ts): orders to its nodes, and the images in the job's folder. The
 * processes write them beside the program, as those of a frozen job; when all are there they take the place of the set before, by a rename.
 */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessName } from "../../../core/base/identity.ts";
import { describeSystemError } from "../../../core/base/system-error.ts";
import type { Interval } from "../../../core/ft/definition.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { type WorldCheckpoint, WorldCheckpoints } from "../../../core/service/world-checkpoints.ts";
import { imagePath } from "../../image/image-path.ts";
import type { RankImage } from "../../messages/rank-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

interface JobWorldCheckpointsOptions {
  readonly players: readonly ProcessName[];
  readonly placement: Placement;
  readonly interval: Interval;
  readonly patienceMs: number;
  readonly isOfAll: boolean;
  /** Where processes write images, and where the sets that count are kept. */
  readonly folder: string;
}

interface JobWorldCheckpointsParts {
  readonly core: Pick<Dispatcher, "state" | "outcome">;
  readonly nodes: Pick<JobNodes, "send">;
  readonly report: Pick<JobReport, "note" | "committed">;
}

/** No image of another set is built upon. */
const nothingKept = { oldest: 0, newest: 0 };

/** The images of a checkpoint that counts, in the job's folder. */
export const worldFolderIn = (folder: string, number: number): string => join(folder, `world-${number}`);

export class JobWorldCheckpoints {
  readonly #options: JobWorldCheckpointsOptions;
  readonly #parts: JobWorldCheckpointsParts;
  readonly #core: WorldCheckpoints;

  /** `latest`: the checkpoint that the job has gone back to. */
  constructor(options: JobWorldCheckpointsOptions, parts: JobWorldCheckpointsParts, latest: WorldCheckpoint | null) {
    this.#options = options;
    this.#parts = parts;
    const { core, report } = parts;
    const { players, interval, patienceMs, isOfAll } = options;
    this.#core = new WorldCheckpoints(
      { players, interval, patienceMs, isOfAll },
      {
        standing: (process) => {
          const { state } = core.state.ranks[process]!;
          return state === "running" ? "running" : state === "dead" ? "dead" : "over";
        },
        stop: (number, members) => this.#stop(number, members),
        goOn: (members) => this.#toNodesOf(members, (here) => ({ kind: "go-on", set: 0, members: here })),
        commit: (number, members) => this.#commit(number, members),
        drop: (number) => rmSync(worldFolderIn(options.folder, number), { recursive: true, force: true }),
        discard: (members) => this.#discard(members),
        note: (message) => report.note(message),
        committed: (number, tookMs) => {
          const times = {
            settledMs: tookMs,
            barrierMs: tookMs,
            capturedMs: tookMs,
            storedMs: tookMs,
            committedMs: tookMs,
          };
          report.committed({ set: 0, number, ...times });
        },
      },
      latest,
    );
  }

  get latest(): WorldCheckpoint | null {
    return this.#core.latest;
  }

  /** The job goes back to that one: images of later ones are of no use. */
  forgetAfter({ number }: WorldCheckpoint): void {
    for (let later = this.latest; later !== null && later.number > number; later = later.earlier) {
      rmSync(worldFolderIn(this.#options.folder, later.number), { recursive: true, force: true });
    }
  }

  get taken(): number {
    return this.#core.taken;
  }

  allBegan(): void {
    this.#core.begin(performance.now());
  }

  tick(nowMs: number): void {
    if (this.#parts.core.outcome === undefined) this.#core.tick(nowMs);
  }

  take(): void {
    this.#core.take(performance.now());
  }

  image(process: number, image: RankImage): void {
    this.#core.image(process, image, performance.now());
  }

  /** A process is dead, or its program is over. */
  ended(process: number): void {
    if (this.#parts.core.outcome === undefined) this.#core.ended(process, performance.now());
  }

  #stop(number: number, members: readonly number[]): void {
    this.#toNodesOf(members, (here) => ({ kind: "checkpoint", set: 0, members: here, number, kept: nothingKept }));
  }

  #toNodesOf(
    members: readonly number[],
    messageFor: (here: readonly number[]) => Parameters<JobNodes["send"]>[1],
  ): void {
    const { placement } = this.#options;
    for (const node of new Set(members.map((process) => placement[process]!))) {
      this.#parts.nodes.send(node, messageFor(members.filter((process) => placement[process] === node)));
    }
  }

  /** The images count; the ranks stand still meanwhile. */
  #commit(number: number, members: readonly number[]): string {
    const { folder } = this.#options;
    const kept = worldFolderIn(folder, number);
    try {
      mkdirSync(kept, { mode: 0o700 });
      for (const process of members) renameSync(imagePath(folder, process), imagePath(kept, process));
    } catch (error) {
      rmSync(kept, { recursive: true, force: true });
      return `Cannot keep images in ${kept}: ${describeSystemError(error)}`;
    }
    return "";
  }

  #discard(members: readonly number[]): void {
    for (const process of members) rmSync(imagePath(this.#options.folder, process), { force: true });
  }
}
