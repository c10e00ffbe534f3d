/**
 * Jobs whose figures are not in their output: a probe launches one, watches it and prints samples. It is a process of its own, `banyan bench
 * --probe …`, which benchmarks start like any other program.
 */
import { unreachable } from "../../core/base/assert.ts";
import { banyanCommand } from "../lab.ts";
import type { Command } from "../measuring/child.ts";
import { type BesideProbe, probeBeside } from "./beside-probe.ts";
import { type CheckpointProbe, probeCheckpoints } from "./checkpoint-probe.ts";
import { type CloningProbe, probeCloning } from "./cloning-probe.ts";
import { type LoggingProbe, probeLogging } from "./logging-probe.ts";
import { probeReplay, type ReplayProbe } from "./replay-probe.ts";
import { probeReplication, type ReplicationProbe } from "./replication-probe.ts";
import { probeWindow, type WindowProbe } from "./window-probe.ts";

export type JobProbe =
  | ({ readonly of: "logging" } & LoggingProbe)
  | ({ readonly of: "replication" } & ReplicationProbe)
  | ({ readonly of: "cloning" } & CloningProbe)
  | ({ readonly of: "beside" } & BesideProbe)
  | ({ readonly of: "checkpoints" } & CheckpointProbe)
  | ({ readonly of: "window" } & WindowProbe)
  | ({ readonly of: "replay" } & ReplayProbe);

export const probeCommand = (probe: JobProbe): Command => banyanCommand(["bench", "--probe", JSON.stringify(probe)]);

export function runProbe(probe: JobProbe): Promise<void> {
  switch (probe.of) {
    case "logging":
      return probeLogging(probe);
    case "replication":
      return probeReplication(probe);
    case "cloning":
      return probeCloning(probe);
    case "beside":
      return probeBeside(probe);
    case "checkpoints":
      return probeCheckpoints(probe);
    case "window":
      return probeWindow(probe);
    case "replay":
      return probeReplay(probe);
    default:
      return unreachable(probe);
  }
}
