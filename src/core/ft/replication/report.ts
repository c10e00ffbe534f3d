/** What processes under replication have sent, for the summary of a job and for its launcher. */
import { countText, secondsText } from "../../base/amounts.ts";
import type { ClonedReplica, MovedReplica } from "../clones.ts";
import type { ProtocolReport } from "../definition.ts";
import { vulnerableMs } from "./vulnerability.ts";

/** How many messages and words a process has sent. */
export interface ReplicatedCounts {
  /** Messages to the process's own world, and to worlds whose sender is dead. */
  readonly sent: number;
  readonly sentForOthers: number;
  /** Words that acknowledge messages. */
  readonly acknowledgements: number;
  /** Messages that came a second time, and were dropped. */
  readonly duplicates: number;
  /** Messages of others that were compared before the program saw them, and those that could not be, because one replica of their sender was left. */
  readonly compared: number;
  readonly uncompared: number;
  /** Bytes of its own messages that were told to others to be compared: none where hashes are. */
  readonly comparedBytes: number;
}

export interface Replicated extends ReplicatedCounts {
  readonly rank: number;
  readonly replica: number;
  /** The dead replicas of its rank that it stood in for when its program was over. */
  readonly stoodInFor: readonly number[];
}

/** Of the part for the job: which process died when, and how long the job took. */
export interface ReplicationJobReport {
  /** By rank: how many processes play it. */
  readonly plan: readonly number[];
  readonly deaths: readonly { readonly rank: number; readonly replica: number; readonly atMs: number }[];
  readonly endMs: number;
}

export function replicationSummary({ ranks, dead, job, clones = [], moves = [] }: ProtocolReport): string[] {
  const known = (ranks as readonly (Replicated | undefined)[]).flatMap((replicated) => replicated ?? []);
  const bytes = known.reduce((sum, { comparedBytes }) => sum + comparedBytes, 0);
  const told = bytes === 0 ? [] : [`${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB told to be compared`];
  if (dead === 0) return [...movesText(moves), ...told];
  const forOthers = known.reduce((sum, { sentForOthers }) => sum + sentForOthers, 0);
  const lost = `${countText(dead, "replica")} lost`;
  const sent = forOthers === 0 ? [] : [`${countText(forOthers, "message")} sent for the lost`];
  const uncompared = known.reduce((sum, each) => sum + each.uncompared, 0);
  const unsafe = uncompared === 0 ? [] : [uncomparedText(uncompared, job as ReplicationJobReport | undefined, clones)];
  return [lost, ...substitutions(known), ...returns(clones), ...movesText(moves), ...sent, ...unsafe, ...told];
}

/** "40 messages not compared (some rank had one replica for 1.24 s)". */
function uncomparedText(
  count: number,
  job: ReplicationJobReport | undefined,
  clones: readonly ClonedReplica[],
): string {
  const what = `${countText(count, "message")} not compared`;
  if (job === undefined) return what;
  const left = [...clones];
  const absences = job.deaths.map(({ rank, replica, atMs }) => {
    const at = left.findIndex((clone) => clone.rank === rank && clone.replica === replica);
    const [clone] = at < 0 ? [] : left.splice(at, 1);
    return { rank, fromMs: atMs, toMs: clone === undefined ? null : atMs + clone.afterMs };
  });
  return `${what} (some rank had one replica for ${secondsText(vulnerableMs(job.plan, absences, job.endMs))})`;
}

/** "replica 0 of ranks 2, 3 came back (cloned from replica 1 onto spare 1, 12 MB in 3 rounds, paused for 8 ms, back after 310 ms)", once for all ranks that it is true of. */
function returns(clones: readonly ClonedReplica[]): string[] {
  const together = new Map<string, ClonedReplica[]>();
  for (const clone of clones) {
    const who = `${clone.replica} ${clone.source} ${clone.spare}`;
    together.set(who, [...(together.get(who) ?? []), clone]);
  }
  return [...together.values()].map((all) => {
    const [{ replica, source, spare }] = all as [ClonedReplica];
    const onto = spare === 0 ? "" : ` onto spare ${spare}`;
    const names = [...new Set(all.map(({ rank }) => rank))].sort((one, other) => one - other);
    const megabytes = all.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    const most = (what: (clone: ClonedReplica) => number): string => Math.max(...all.map(what)).toFixed(0);
    const rounds = Number(most((clone) => clone.rounds));
    const size = `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB in ${countText(rounds, "round")}`;
    const times = `paused for ${most(({ pauseMs }) => pauseMs)} ms, back after ${most(({ afterMs }) => afterMs)} ms`;
    return `replica ${replica} of rank${names.length === 1 ? "" : "s"} ${names.join(", ")} came back (cloned from replica ${source}${onto}, ${size}, ${times})`;
  });
}

/** "3 replicas moved (36 MB, each stood still for 310 ms at most)". */
function movesText(moves: readonly MovedReplica[]): string[] {
  if (moves.length === 0) return [];
  const megabytes = moves.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const most = Math.max(...moves.map(({ pauseMs }) => pauseMs)).toFixed(0);
  const size = `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB`;
  const times = moves.length === 1 ? `stood still for ${most} ms` : `each stood still for ${most} ms at most`;
  return [`${countText(moves.length, "replica")} moved (${size}, ${times})`];
}

/** "replica 1 of ranks 2, 3 stood in for replica 0", once for all ranks that it is true of. */
function substitutions(known: readonly Replicated[]): string[] {
  const ranksOf = new Map<string, number[]>();
  for (const { rank, replica, stoodInFor } of known) {
    for (const dead of stoodInFor) {
      const who = `${replica} ${dead}`;
      ranksOf.set(who, [...(ranksOf.get(who) ?? []), rank]);
    }
  }
  return [...ranksOf].map(([who, ranks]) => {
    const [replica, dead] = who.split(" ");
    return `replica ${replica} of rank${ranks.length === 1 ? "" : "s"} ${ranks.join(", ")} stood in for replica ${dead}`;
  });
}
