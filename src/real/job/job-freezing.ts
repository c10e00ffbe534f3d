/** Stops a job for another day: every rank stops at its next MPI call, images of all are written, and the job ends. */

import { describeSystemError } from "../../core/base/system-error.ts";
import type { ToNode } from "../messages/node-messages.ts";
import type { FrozenJob } from "./folder/frozen-job.ts";
import { removeFrozenJob, writeJob } from "./folder/job-folder.ts";
import { Freezing } from "./freezing.ts";

interface JobFreezingOptions {
  /** Where the images go; empty: the job cannot be frozen. */
  readonly jobFolder: string;
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

export class JobFreezing {
  readonly #options: JobFreezingOptions;
  readonly #ports: JobFreezingPorts;
  #freezing: Freezing | undefined;

  constructor(options: JobFreezingOptions, ports: JobFreezingPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  get isUnderWay(): boolean {
    return this.#freezing !== undefined;
  }

  begin(): void {
    if (this.isUnderWay) return;
    if (this.#ports.hasSpawned()) {
      this.#ports.note("the job cannot be frozen and goes on: it has spawned processes, of which there are no images");
      return;
    }
    const dead = this.#ports.dead();
    if (dead !== undefined) {
      this.#ports.note(`the job cannot be frozen and goes on: rank ${dead} is dead, and there is no image of it`);
      return;
    }
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
    const obstacle = problem === "" ? this.#writeJob() : problem;
    if (obstacle !== "") {
      this.#ports.note(`the job could not be frozen and goes on: ${obstacle}`);
      removeFrozenJob(this.#options.jobFolder);
      this.#freezing = undefined;
    }
    this.#ports.toNodes({ kind: "frozen", isGood: obstacle === "" });
  }

  /** Returns the obstacle; empty: none. */
  #writeJob(): string {
    const { jobFolder, job } = this.#options;
    try {
      writeJob(jobFolder, job);
      return "";
    } catch (error) {
      return `Cannot write to ${jobFolder}: ${describeSystemError(error)}`;
    }
  }
}
