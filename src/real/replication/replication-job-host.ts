/** Replication's part for the whole job, in a real one: it knows when replicas died. */
import type { ProcessName } from "../../core/base/identity.ts";
import { ReplicationJob } from "../../core/ft/replication/replication-job.ts";
import type { ReplicationJobReport } from "../../core/ft/replication/report.ts";
import type { JobPartHost, JobPartHostPorts, JobPartSetup } from "../part-hosts/job-part-host.ts";

export class ReplicationJobHost implements JobPartHost {
  readonly part: ReplicationJob;
  readonly #plan: readonly number[];
  readonly #deaths: { readonly rank: number; readonly replica: number; readonly atMs: number }[] = [];
  #beganMs = performance.now();

  constructor({ replicas }: JobPartSetup, ports: JobPartHostPorts) {
    this.part = new ReplicationJob(ports);
    this.#plan = replicas ?? [];
  }

  get report(): ReplicationJobReport {
    return { plan: this.#plan, deaths: this.#deaths, endMs: performance.now() - this.#beganMs };
  }

  died({ rank, replica }: ProcessName): void {
    this.#deaths.push({ rank, replica, atMs: performance.now() - this.#beganMs });
  }

  forNode(): undefined {
    return undefined;
  }

  nodeStarted(): void {}
  allBegan(): void {
    this.#beganMs = performance.now();
  }

  tick(): void {}

  kill(): boolean {
    return false;
  }

  async end(): Promise<void> {}
}
