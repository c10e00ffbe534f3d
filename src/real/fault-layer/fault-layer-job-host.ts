/** The fault-simulation layer's part for the whole job, in a real one: it needs nothing of the machine. */
import { FaultLayerJob, type FaultLayerReport } from "../../core/ft/fault-layer/fault-layer-job.ts";
import type { JobPartHost } from "../part-hosts/job-part-host.ts";

export class FaultLayerJobHost implements JobPartHost {
  readonly part = new FaultLayerJob();

  get report(): FaultLayerReport {
    return this.part.report;
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
