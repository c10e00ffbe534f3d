import type { Engine } from "../../core/p2p/engine.ts";
import { quietContext } from "../../core/process/context.ts";
import { R_BYTES, R_CONTEXT, R_MODE } from "../../core/request/records.ts";
import { PacketKind } from "../../core/wire/packet.ts";
import type { SimProcess } from "../sim-process.ts";
import type { Checker } from "./checker.ts";

/** At the end nothing is left behind: no requests, no messages nobody wants, no packets, and all memory is given back. */
export const nothingLeft: Checker = {
  name: "nothing is left behind",
  check({ world, stuck, dead, givenUp = 0 }): string[] {
    // Who is stuck holds what it waits for, and who speaks with the dead keeps messages that nobody takes any more.
    if (stuck.length > 0 || dead.size > 0) return [];
    const problems = world.processes.flatMap((process) => leftAt(process, givenUp > 0));
    const { packetsInFlight } = world.network;
    if (packetsInFlight !== 0) problems.push(`${packetsInFlight} packets are still in flight`);
    return problems;
  },
};

/** `mayHaveMarks`: who did not come to a checkpoint that was given up keeps the marks of the others until the next one. */
function leftAt({ rank, core, engine, memory, transport }: SimProcess, mayHaveMarks: boolean): string[] {
  // What a protocol keeps stays until nobody can ask for it any more, which is the end of the job.
  const loggedBytes = core.protocol?.kept.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  const marks = mayHaveMarks ? storedMarks(engine) : { count: 0, bytes: 0 };
  const left: [number, string][] = [
    [engine.records.count - marks.count, "requests or envelopes"],
    [engine.posted.count, "posted receives"],
    [engine.unexpected.count - marks.count, "unexpected messages"],
    [engine.unexpectedBytes - marks.bytes, "bytes of unexpected messages"],
    [transport.arrivedCount, "packets that arrived and were not looked at"],
    [memory.bytesAllocated - loggedBytes - marks.bytes, "bytes of memory"],
    [memory.viewsLent, "lent views"],
    [engine.unsent ? 1 : 0, "queues of unsent packets"],
  ];
  return left.filter(([count]) => count !== 0).map(([count, what]) => `rank ${rank} has left ${count} ${what}`);
}

function storedMarks({ unexpected, records }: Engine): { count: number; bytes: number } {
  const marks = { count: 0, bytes: 0 };
  unexpected.forEach((envelope) => {
    if (records.get(envelope, R_CONTEXT) !== quietContext) return;
    marks.count++;
    if (records.get(envelope, R_MODE) === PacketKind.EAGER) marks.bytes += records.get(envelope, R_BYTES);
  });
  return marks;
}
