/**
 * Checkpoints of a job whose ranks are played by several processes: the last resort when the last process of a rank is lost (row R8). One *world* is
 * captured, replica k of every rank: its processes stop inside MPI calls, come to rest among each other, and write images; the other worlds go
 * on meanwhile. The images together are a state that the job could be in with replica k of each rank alone.
 *
 *   stop ─▶ all of the world ─▶ images ─▶ commit: they take the place of the set before ─▶ the world goes on
 *
 * Only a world of which every process lives, and whose programs are not over, is captured: messages of a rank whose replica is dead come from another world, which
 * does not stop. Of several such worlds it is the first, because its processes perform what ranks do to files, and wait for no others in that. An attempt is given
 * up when one of its processes dies, ends, cannot write its image, or does not stop in time; the set before stays.
 *
 * Where replicas compare messages (ADR 69) all processes are captured together instead, when all of them live. Replicas that differ go back to such a
 * checkpoint, and one may be wrong already, in memory that no message has told of: so the last few are kept, and the one before is tried when the newest did not help.
 *
 * Pure: fed events and times, it calls its ports.
 */
import { secondsText } from "../base/amounts.ts";
import type { ProcessName } from "../base/identity.ts";
import type { Interval } from "../ft/definition.ts";
import { CheckpointPolicy } from "./checkpoint-policy.ts";

interface WorldCheckpointsOptions {
  /** By process. */
  readonly players: readonly ProcessName[];
  readonly interval: Interval;
  /** A process that does not stop for so long keeps the others of its world from their work: the checkpoint is given up. */
  readonly patienceMs: number;
  /** All processes are captured together; otherwise those of one world. */
  readonly isOfAll: boolean;
}

interface WorldCheckpointsPorts {
  /** "over": it lives, and its program has ended. */
  standing(process: number): "running" | "over" | "dead";
  /** These processes shall stop, and write images. */
  stop(number: number, members: readonly number[]): void;
  /** They shall go on. */
  goOn(members: readonly number[]): void;
  /** All images are there. Returns the obstacle; empty: they count. */
  commit(number: number, members: readonly number[]): string;
  /** The images of that checkpoint will not be gone back to any more. */
  drop(number: number): void;
  /** Images of an attempt that was given up are of no use. */
  discard(members: readonly number[]): void;
  note(message: string): void;
  /** `tookMs`: from the wish until they counted; so long the world stood still at most. */
  committed(number: number, tookMs: number): void;
}

/** Images that the job can go back to. */
export interface WorldCheckpoint {
  readonly number: number;
  readonly world: number;
  /** The processes, in the order of their ranks. */
  readonly members: readonly number[];
  /** When they were asked to stop. */
  readonly takenMs: number;
  /** By member: how much of standard input it had read. */
  readonly inputOffsets: ReadonlyMap<number, number>;
  /** The checkpoint before, if it is kept. */
  readonly earlier: WorldCheckpoint | null;
}

/** So many are kept where one may be wrong. */
const checkpointsKept = 4;

interface Attempt {
  readonly number: number;
  readonly world: number;
  readonly members: readonly number[];
  readonly beganMs: number;
  readonly inputOffsets: Map<number, number>;
}

/** For the policy: one set of images, of whichever world. */
const theSet = 0;

export class WorldCheckpoints {
  readonly #options: WorldCheckpointsOptions;
  readonly #ports: WorldCheckpointsPorts;
  readonly #policy: CheckpointPolicy;
  /** Why attempts were given up, as far as that has been said: without numbers, which differ from one to the next. */
  readonly #troubles = new Set<string>();
  /** By world; only those that have a process for every rank. */
  readonly #worlds: readonly { readonly world: number; readonly members: readonly number[] }[];
  #attempt: Attempt | null = null;
  #latest: WorldCheckpoint | null;
  #number: number;
  #taken = 0;
  /** Infinity: none is due. */
  #dueMs = Number.POSITIVE_INFINITY;
  #beganMs = 0;
  #isMissed = false;

  /** `latest`: the checkpoint that the job has gone back to. */
  constructor(options: WorldCheckpointsOptions, ports: WorldCheckpointsPorts, latest: WorldCheckpoint | null = null) {
    this.#options = options;
    this.#ports = ports;
    this.#policy = new CheckpointPolicy(options.interval);
    this.#latest = latest;
    this.#number = latest?.number ?? 0;
    this.#worlds = options.isOfAll
      ? [{ world: 0, members: [...options.players.keys()] }]
      : wholeWorlds(options.players);
  }

  /** What the job can go back to; null: nothing yet. */
  get latest(): WorldCheckpoint | null {
    return this.#latest;
  }

  /** Checkpoints that came to count. */
  get taken(): number {
    return this.#taken;
  }

  /** Every rank has begun. */
  begin(nowMs: number): void {
    this.#beganMs = nowMs;
    this.#due(nowMs);
  }

  tick(nowMs: number): void {
    const attempt = this.#attempt;
    if (attempt === null) {
      if (nowMs >= this.#dueMs) this.take(nowMs);
    } else if (nowMs - attempt.beganMs > this.#options.patienceMs) {
      const late = attempt.members.filter((process) => !attempt.inputOffsets.has(process));
      const names = late.map((process) => this.#options.players[process]!.rank).join(", ");
      const forText = secondsText(nowMs - attempt.beganMs);
      this.#giveUp(`${late.length === 1 ? "rank" : "ranks"} ${names} did not stop for ${forText}`, nowMs);
    }
  }

  /** One is taken now, unless one is under way. */
  take(nowMs: number): void {
    if (this.#attempt !== null) return;
    const standing = (process: number): string => this.#ports.standing(process);
    const whole = this.#worlds.find(({ members }) => members.every((process) => standing(process) === "running"));
    if (whole === undefined) {
      if (this.#worlds.every(({ members }) => members.some((process) => standing(process) === "dead"))) this.#miss();
      this.#due(nowMs);
      return;
    }
    const { world, members } = whole;
    this.#attempt = { number: ++this.#number, world, members, beganMs: nowMs, inputOffsets: new Map() };
    this.#ports.stop(this.#number, members);
  }

  /** The image of a process is written, or cannot be. */
  image(
    process: number,
    of: { readonly number: number; readonly inputOffset: number; readonly problem: string },
    nowMs: number,
  ): void {
    const attempt = this.#attempt;
    if (attempt === null || of.number !== attempt.number || !attempt.members.includes(process)) return;
    if (of.problem !== "") {
      this.#giveUp(of.problem, nowMs);
      return;
    }
    attempt.inputOffsets.set(process, of.inputOffset);
    if (attempt.inputOffsets.size < attempt.members.length) return;
    const obstacle = this.#ports.commit(attempt.number, attempt.members);
    if (obstacle !== "") {
      this.#giveUp(obstacle, nowMs);
      return;
    }
    const { number, world, members, beganMs, inputOffsets } = attempt;
    const kept = this.#options.isOfAll ? checkpointsKept - 1 : 0;
    const earlier = this.#trimmed(this.#latest, kept);
    this.#latest = { number, world, members, takenMs: beganMs, inputOffsets, earlier };
    this.#taken++;
    this.#policy.cost(theSet, nowMs - beganMs);
    this.#over(attempt, nowMs);
    this.#troubles.clear();
    this.#ports.committed(number, nowMs - beganMs);
  }

  /** The first so many of a checkpoint and those before it. */
  #trimmed(checkpoint: WorldCheckpoint | null, count: number): WorldCheckpoint | null {
    if (checkpoint === null) return null;
    const earlier = this.#trimmed(checkpoint.earlier, Math.max(0, count - 1));
    if (count > 0) return { ...checkpoint, earlier };
    this.#ports.drop(checkpoint.number);
    return null;
  }

  /** A process is dead, or its program is over. */
  ended(process: number, nowMs: number): void {
    if (this.#attempt?.members.includes(process) !== true) return;
    this.#giveUp(`rank ${this.#options.players[process]!.rank} has ended`, nowMs);
  }

  #giveUp(why: string, nowMs: number): void {
    const attempt = this.#attempt!;
    this.#ports.discard(attempt.members);
    this.#over(attempt, nowMs);
    // An image that is on its way to the job's folder now must not come behind one of the next attempt.
    this.#dueMs = Math.max(this.#dueMs, nowMs + this.#options.patienceMs);
    const reason = why.replaceAll(/\d+/g, "");
    if (this.#troubles.has(reason)) return;
    this.#troubles.add(reason);
    this.#ports.note(
      `checkpoint ${attempt.number}, of ${this.#options.isOfAll ? "all replicas" : `replica ${attempt.world} of all ranks`}, was given up: ${why}; it is tried again`,
    );
  }

  #over(attempt: Attempt, nowMs: number): void {
    this.#attempt = null;
    this.#due(nowMs);
    this.#ports.goOn(attempt.members);
  }

  #due(nowMs: number): void {
    this.#dueMs = nowMs + this.#policy.nextMs(theSet, nowMs - this.#beganMs);
  }

  #miss(): void {
    if (this.#isMissed) return;
    this.#isMissed = true;
    this.#ports.note(
      `no further checkpoint is taken: ${this.#options.isOfAll ? "a replica" : "of every world of replicas one"} is lost`,
    );
  }
}

/** Those that every rank has a replica in, with their processes in the order of ranks. */
function wholeWorlds(players: readonly ProcessName[]): { world: number; members: number[] }[] {
  const ranks = new Set(players.map(({ rank }) => rank)).size;
  const worlds = [...new Set(players.map(({ replica }) => replica))].sort((a, b) => a - b);
  const membersOf = (world: number): number[] =>
    [...players.keys()]
      .filter((process) => players[process]!.replica === world)
      .sort((a, b) => players[a]!.rank - players[b]!.rank);
  return worlds
    .map((world) => ({ world, members: membersOf(world) }))
    .filter(({ members }) => members.length === ranks);
}
