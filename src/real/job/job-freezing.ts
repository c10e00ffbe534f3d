/** Stops a job for another day, or for another place: every rank stops at its next MPI call, images of all are written, and its processes end. */

import { describeSystemError } from "../../core/base/system-error.ts";
import type { ToNode } from "../messages/node-messages.ts";
import type { FrozenJob } from "./folder/frozen-job.ts";
import { removeFrozenJob, writeJob } from "./folder/job-folder.ts";
import { Freezing } from "./freezing.ts";

interface JobFreezingOptions {
  /** Where the images go. */
  readonly folder: string;
  readonly job: FrozenJob;
}

interface JobFreezingPorts {
  /** The job has spawned processes, of which there are no images. */
  hasSpawned(): boolean;
  /** A rank that is dead and does not return; undefined: there is none. */
  dead(): number | undefined;
  toNodes(message: ToNode): void;
  note(message: string): void;
}

/** A move of ranks: the job goes on when its processes have ended. */
interface MovePorts {
  /** It goes on as it was. */
  failed(): void;
}

export class JobFreezing {
  readonly #options: JobFreezingOptions;
  readonly #ports: JobFreezingPorts;
  #freezing: Freezing | undefined;
  /** Null: the job ends with that. */
  #move: MovePorts | null = null;

  constructor(options: JobFreezingOptions, ports: JobFreezingPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  get isUnderWay(): boolean {
    return this.#freezing !== undefined;
  }

  /** Why it cannot be now; empty: it can. */
  get obstacle(): string {
    if (this.isUnderWay) return "it is being frozen";
    if (this.#ports.hasSpawned()) return "it has spawned processes, of which there are no images";
    const dead = this.#ports.dead();
    return dead === undefined ? "" : `rank ${dead} is dead, and there is no image of it`;
  }

  /** `move`: null: the job ends. */
  begin(move: MovePorts | null = null): void {
    if (this.isUnderWay) return;
    const { obstacle } = this;
    if (obstacle !== "") {
      this.#ports.note(`the job cannot be frozen and goes on: ${obstacle}`);
      return;
    }
    this.#move = move;
    this.#freezing = new Freezing(this.#options.job.ranks, {
      note: (message) => this.#ports.note(message),
      written: (problem) => this.#written(problem),
    });
    this.#ports.toNodes({ kind: "freeze" });
  }

  stopped(rank: number): void {
    this.#freezing?.stopped(rank);
  }

  /** The image of a rank is written, or cannot be. */
  image(rank: number, problem: string): void {
    this.#freezing?.image(rank, problem);
  }

  /** A rank is dead and does not return: the others would wait for it. */
  died(rank: number): void {
    this.#freezing?.died(rank);
  }

  end(): void {
    this.#freezing?.end();
  }

  /** The ranks end when everything is in the folder; otherwise they go on, and nothing is lost. */
  #written(problem: string): void {
    const obstacle = problem === "" && this.#move === null ? this.#writeJob() : problem;
    if (obstacle !== "") {
      this.#ports.note(`the job could not be ${this.#move === null ? "frozen" : "moved"} and goes on: ${obstacle}`);
      removeFrozenJob(this.#options.folder);
      this.#freezing = undefined;
      this.#move?.failed();
    }
    this.#ports.toNodes({ kind: "frozen", isGood: obstacle === "" });
  }

  /** Returns the obstacle; empty: none. */
  #writeJob(): string {
    const { folder, job } = this.#options;
    try {
      writeJob(folder, job);
      return "";
    } catch (error) {
      return `Cannot write to ${folder}: ${describeSystemError(error)}`;
    }
  }
}
