import { LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { SimProcess } from "../sim-process.ts";
import type { Checker } from "./checker.ts";

/** At the end nothing is left behind: no requests, no messages nobody wants, no packets, and all memory is given back. */
export const nothingLeft: Checker = {
  name: "nothing is left behind",
  check({ world, stuck, dead, givenUp = 0 }): string[] {
    // Who is stuck holds what it waits for, and who speaks with the dead keeps messages that nobody takes any more.
    if (stuck.length > 0 || dead.size > 0 || givenUp > 0) return [];
    const problems = world.processes.flatMap(leftAt);
    const { packetsInFlight } = world.network;
    if (packetsInFlight !== 0) problems.push(`${packetsInFlight} packets are still in flight`);
    return problems;
  },
};

function leftAt({ rank, core, engine, memory, transport }: SimProcess): string[] {
  // A payload log is kept until nobody can ask for it any more, which is the end of the job.
  const kept = core.protocol instanceof LoggingProtocol ? core.protocol.keptInMemory : [];
  const loggedBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const left: [number, string][] = [
    [engine.records.count, "requests or envelopes"],
    [engine.posted.count, "posted receives"],
    [engine.unexpected.count, "unexpected messages"],
    [engine.unexpectedBytes, "bytes of unexpected messages"],
    [transport.arrivedCount, "packets that arrived and were not looked at"],
    [memory.bytesAllocated - loggedBytes, "bytes of memory"],
    [memory.viewsLent, "lent views"],
    [engine.unsent ? 1 : 0, "queues of unsent packets"],
  ];
  return left.filter(([count]) => count !== 0).map(([count, what]) => `rank ${rank} has left ${count} ${what}`);
}
