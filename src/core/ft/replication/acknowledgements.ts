/**
 * What this process holds of what others sent, on its way to the replicas of the senders that did not send it: they need not keep it
 * any more. Numbers that follow each other are one word. A small message holds no sender up, so its number waits until the process
 * has nothing else to do; that of a large one leaves at once.
 */
import { lives, saves } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Membership } from "./membership.ts";

/** More numbers are not in one word that is believed. */
export const runMax = 64;

/** No more are held back: a process may compute for long between two receives that need no look. */
const runUsual = 16;

/**
 * A number waits for others of its rank until the process has looked so often in vain, which it does before it sleeps. (bt, 2 ranks with two
 * replicas on 2 cores: 1 % less time.)
 */
const looksMax = 16;

/** The only word of the protocol, with the first and the last number of a run of messages that its sender holds. */
export const heldWord = 1;

/** Numbers of one rank that follow each other; `count` 0: none. */
class NumberRun {
  readonly rank: number;
  first = 0;
  count = 0;

  constructor(rank: number) {
    this.rank = rank;
  }
}

interface Place {
  readonly rank: number;
  readonly replica: number;
}

export class Acknowledgements {
  private readonly ports: ProtocolPorts;
  protected readonly membership: Membership;
  /** Of this process. */
  private replica: number;
  /** By rank, bits: replicas that want to hear of what they have sent themselves, because an image of them is to be taken. */
  private readonly also = new Map<number, number>();
  private readonly runs = new Map<number, NumberRun>();
  /** Those that are not empty. */
  private readonly open: NumberRun[] = [];
  /** An image of this process is to be taken: whoever keeps messages for the clone need not keep what this process has. */
  private isForAll = false;
  /** How often the process has looked in vain since the last message. */
  private looks = 0;
  /** How many words were said, and how many messages they were about. */
  words = 0;
  messages = 0;

  constructor(ports: ProtocolPorts, membership: Membership, { replica }: Place) {
    this.ports = ports;
    this.membership = membership;
    this.replica = replica;
  }

  /** All of that message is here. `isAwaited`: its sender is not complete before this is known. */
  held(rank: number, sequence: number, isAwaited: boolean): void {
    if (this.hearersOf(rank) === 0) return;
    const run = this.runOf(rank);
    if (run.count !== 0 && ((run.first + run.count) | 0) !== sequence) this.say(run);
    if (run.count === 0) {
      run.first = sequence;
      if (!this.open.includes(run)) this.open.push(run);
    }
    run.count++;
    this.looks = 0;
    if (isAwaited || run.count === runUsual) this.say(run);
  }

  private runOf(rank: number): NumberRun {
    let run = this.runs.get(rank);
    if (run === undefined) {
      run = new NumberRun(rank);
      this.runs.set(rank, run);
    }
    return run;
  }

  /** The run of a rank, if those replicas of it, and no others, are to hear of it: whoever asks tells them. `count` 0: there is none. */
  ride(rank: number, hearers: number): Readonly<NumberRun> | null {
    const run = this.runs.get(rank);
    if (run === undefined || run.count === 0 || this.hearersOf(rank) !== hearers) return null;
    return run;
  }

  /** It has been told to so many. */
  rode(rank: number, hearers: number): void {
    const run = this.runOf(rank);
    this.words += hearers;
    this.messages += hearers * run.count;
    run.count = 0;
  }

  /** Bits: all living replicas of a rank but the one that sends to this process, which knows what it has sent. */
  protected hearersOf(rank: number): number {
    const { membership, replica, also } = this;
    const living = membership.livingOf(rank);
    if (this.isForAll) return living;
    const others = living & ~(1 << membership.substituteOf(rank, replica));
    return also.size === 0 ? others : others | (living & (also.get(rank) ?? 0));
  }

  /** From now on that sender hears of its own messages too; or not any more, once it has heard of all that it sent before. */
  tellAlso({ rank, replica }: Place, isWanted: boolean): void {
    this.flush();
    const others = (this.also.get(rank) ?? 0) & ~(1 << replica);
    const all = isWanted ? others | (1 << replica) : others;
    if (all === 0) this.also.delete(rank);
    else this.also.set(rank, all);
  }

  tellAll(isWanted: boolean): void {
    this.flush();
    this.isForAll = isWanted;
  }

  /** This process is a clone, which says at once all that it holds. */
  begin(replica: number): void {
    this.replica = replica;
    this.isForAll = false;
    this.also.clear();
    this.open.length = 0;
    for (const run of this.runs.values()) run.count = 0;
  }

  private say(run: NumberRun): void {
    const { rank, first, count } = run;
    run.count = 0;
    const hearers = this.hearersOf(rank);
    const last = (first + count - 1) | 0;
    for (let replica = 0; hearers >>> replica !== 0; replica++) {
      if ((hearers & (1 << replica)) === 0) continue;
      this.ports.tell({ rank, replica }, { a: heldWord, b: first, c: last });
      this.words++;
      this.messages += count;
    }
  }

  get isBusy(): boolean {
    return this.open.length !== 0;
  }

  /** The process makes progress. True when anything left. */
  look(): boolean {
    if (this.open.length === 0 || ++this.looks < looksMax) return false;
    return this.flush();
  }

  /** True when anything left. */
  flush(): boolean {
    const { open } = this;
    if (open.length === 0) return false;
    for (const run of open) if (run.count !== 0) this.say(run);
    open.length = 0;
    return true;
  }
}

saves({ NumberRun });
lives({ Acknowledgements });
