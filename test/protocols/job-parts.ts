/** Parts for jobs of a Banyan that has one protocol more. */
import type { NewJobPartHost } from "../../src/real/part-hosts/job-part-host.ts";
import * as shipped from "../../src/real/protocol-parts/job-parts.ts";
import { delayed } from "./delayed/definition.ts";
import { DelayedJobHost } from "./delayed/machine-parts.ts";

export const jobParts: Readonly<Record<string, NewJobPartHost>> = {
  ...shipped.jobParts,
  [delayed.name]: (_, ports) => new DelayedJobHost(ports),
};
