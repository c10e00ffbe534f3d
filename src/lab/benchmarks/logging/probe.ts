/** Starts the probe (logging-probe.ts), which launches jobs and prints their figures. */

import { banyanCommand } from "../../lab.ts";
import type { LoggingProbe } from "../../logging-probe.ts";
import type { MeasuredStart } from "../../measure.ts";
import type { Contender } from "../../series.ts";

interface ProbeStart {
  readonly contender: Contender;
  readonly variant: string;
  readonly timeLimitMs: number;
}

export function probeStart(probe: LoggingProbe, start: ProbeStart): MeasuredStart {
  return { ...start, command: banyanCommand(["bench", "--logging-probe", JSON.stringify(probe)]) };
}
