/** Starts the probe (logging-probe.ts), which launches jobs and prints their figures. */

import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Contender } from "../../measuring/series.ts";
import type { LoggingProbe } from "../../probes/logging-probe.ts";
import { probeCommand } from "../../probes/probe.ts";

interface ProbeStart {
  readonly contender: Contender;
  readonly variant: string;
  readonly timeLimitMs: number;
}

export function probeStart(probe: LoggingProbe, start: ProbeStart): MeasuredStart {
  return { ...start, command: probeCommand({ of: "logging", ...probe }) };
}
