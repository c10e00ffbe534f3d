import type { RecordId } from "../../core/base/brand.ts";
import type { Engine } from "../../core/p2p/engine.ts";
import { collectiveContext, quietContext, worldContext } from "../../core/process/context.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_FLAGS,
  R_KIND,
  R_MODE,
  R_PEER,
  RecordFlag,
  RecordKind,
  recordWords,
} from "../../core/request/records.ts";
import { PacketKind } from "../../core/wire/packet.ts";
import type { SimProcess } from "../sim-process.ts";
import type { Checker, Evidence } from "./checker.ts";

/**
 * At the end nothing is left behind: no requests, no unreceived messages, no packets, and all memory is freed. Two kinds of
 * messages may stay with the living: those of the dead, and those by which other ranks continued to make a communicator after
 * its making had failed here. A third: envelopes that only a process with a wrong memory has sent, which was ended before they were let in, and which
 * nobody sends in its place. (One that another should have sent would be missed.)
 */
export const nothingLeft: Checker = {
  name: "nothing is left behind",
  check(evidence): string[] {
    const { world, stuck, dead, histories } = evidence;
    // A stuck rank keeps what it waits for.
    if (stuck.length > 0) return [];
    const living = world.processes.filter(({ rank }) => !dead.has(rank));
    // Where ranks return, a rank that died after the programs were over stays dead: the job has ended, and nobody answers the others.
    const isUnanswered = histories !== undefined && dead.size > 0;
    const problems = living.flatMap((process) => (isUnanswered ? leftBetween : leftAt)(process, evidence));
    if (isUnanswered) return problems;
    const { packetsInFlight } = world.network;
    if (packetsInFlight !== 0) problems.push(`${packetsInFlight} packets are still in flight`);
    return problems;
  },
};

function leftAt(process: SimProcess, evidence: Evidence): string[] {
  const { rank, core, engine, memory, transport } = process;
  // A protocol keeps messages until no rank can ask for them any more, which is the end of the job.
  const keptBytes = core.protocol?.kept.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  const excused = storedMessages(engine, (source, context) => mayStay(evidence, rank, source, context));
  const left: [number, string][] = [
    [engine.records.count - excused.count - countLost(engine), "requests or envelopes"],
    [engine.posted.count, "posted receives"],
    [engine.unexpected.count - excused.count, "unexpected messages"],
    [engine.store.bytes - excused.bytes, "bytes of unexpected messages"],
    [transport.arrivedCount, "packets that arrived and were not looked at"],
    [memory.bytesAllocated - keptBytes - excused.bytes, "bytes of memory"],
    [memory.viewsLent, "lent views"],
    [engine.unsent ? 1 : 0, "queues of unsent packets"],
  ];
  return left.filter(([count]) => count !== 0).map(([count, what]) => `rank ${rank} has left ${count} ${what}`);
}

/** Envelopes that were not let in, and whose sender is lost. */
function countLost({ records }: Engine): number {
  let count = 0;
  for (let record = 0; record * recordWords < records.words.length; record++) {
    const isEnvelope = records.get(record as RecordId, R_KIND) === RecordKind.ENVELOPE;
    const flags = records.get(record as RecordId, R_FLAGS);
    if (isEnvelope && (flags & lost) === lost) count++;
  }
  return count;
}

const lost = RecordFlag.ASIDE | RecordFlag.BROKEN;

/** What the living have left of messages among themselves; what they keep for the dead is not theirs to end. */
function leftBetween({ rank, engine, memory }: SimProcess, evidence: Evidence): string[] {
  const { dead } = evidence;
  const { records } = engine;
  let posted = 0;
  engine.posted.forEach((receive) => {
    if (!dead.has(records.get(receive, R_PEER))) posted++;
  });
  const excused = storedMessages(engine, (source, context) => mayStay(evidence, rank, source, context));
  const left: [number, string][] = [
    [posted, "posted receives"],
    [engine.unexpected.count - excused.count, "unexpected messages"],
    [memory.viewsLent, "lent views"],
  ];
  return left.filter(([count]) => count !== 0).map(([count, what]) => `rank ${rank} has left ${count} ${what}`);
}

function mayStay(evidence: Evidence, rank: number, source: number, context: number): boolean {
  const { dead, givenUp = 0, observation } = evidence;
  if (dead.has(source)) return true;
  // A rank that did not join a checkpoint that was given up keeps the marks of the others until the next one.
  if (context === quietContext) return givenUp > 0;
  if (context === collectiveContext(worldContext) || !observation.gaveUp.has(rank)) return false;
  const isMade = observation.communicators.some(
    (made) => made.member === rank && collectiveContext(made.context) === context,
  );
  return collectiveContext(context) === context && !isMade;
}

/** Messages that wait for a receive and satisfy the condition. */
function storedMessages(
  { unexpected, records }: Engine,
  isWanted: (source: number, context: number) => boolean,
): { count: number; bytes: number } {
  const stored = { count: 0, bytes: 0 };
  unexpected.forEach((envelope) => {
    if (!isWanted(records.get(envelope, R_PEER), records.get(envelope, R_CONTEXT))) return;
    stored.count++;
    if (records.get(envelope, R_MODE) === PacketKind.EAGER) stored.bytes += records.get(envelope, R_BYTES);
  });
  return stored;
}
