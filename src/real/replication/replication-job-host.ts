/** Replication's part for the whole job, in a real one: it needs nothing of the machine. */
import { ReplicationJob } from "../../core/ft/replication/replication-job.ts";
import type { JobPartHost, JobPartHostPorts, JobPartSetup } from "../part-hosts/job-part-host.ts";

export class ReplicationJobHost implements JobPartHost {
  readonly part: ReplicationJob;
  readonly report = undefined;

  constructor(_setup: JobPartSetup, { note }: JobPartHostPorts) {
    this.part = new ReplicationJob(note);
  }

  forNode(): undefined {
    return undefined;
  }

  nodeStarted(): void {}
  allBegan(): void {}
  tick(): void {}

  kill(): boolean {
    return false;
  }

  async end(): Promise<void> {}
}
