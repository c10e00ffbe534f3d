/** Facts that were observed while a script ran; the checkers judge them. */
export interface Receipt {
  readonly receive: number;
  /** Posting order in its process, and when on the clock of the observation. */
  readonly posted: number;
  readonly postedAt: number;
  /** The message it took, by number; −1: cannot be told. */
  readonly message: number;
  /** As the status said; the source is a rank of the world. */
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly error: number;
  /** First byte that is not the message's, or −1. */
  readonly wrongByte: number;
  /** What a probe said before, if there was one. */
  readonly probed: { readonly source: number; readonly tag: number; readonly bytes: number } | null;
}

interface EndedOperation {
  readonly rank: number;
  readonly what: string;
  /** The communicators on which it waited, and the world ranks whose death can end it. */
  readonly communicators: readonly number[];
  readonly peers: readonly number[];
  /** A receive that would have taken a message of any of them. */
  readonly isWildcard?: boolean;
  readonly error: number;
  readonly cancelled: boolean;
  readonly wantedCancelled: boolean;
}

/** A send whose request has ended, and when its program heard of it. */
interface EndedSend {
  readonly message: number;
  readonly at: number;
  readonly error: number;
}

interface CollectiveResult {
  readonly collective: number;
  /** In the world. */
  readonly rank: number;
  readonly error: number;
  /** First byte of the receive buffer that is not what it should be, or −1; and of the send buffer, which must stay as it was. */
  readonly wrongReceived: number;
  readonly wrongSent: number;
}

interface MadeCommunicator {
  /** −1: its member was to get none. */
  readonly communicator: number;
  /** World rank of the member. */
  readonly member: number;
  readonly rank: number;
  /** World ranks of the own group, and of the other side where there is one. */
  readonly groups: readonly (readonly number[])[];
  readonly context: number;
}

/** What lives of one world have in common. */
export class LogicalClock {
  ticks = 0;
  /** When each receive was posted for the first time, in whichever life. */
  readonly firstPosted = new Map<number, number>();
}

export class Observation {
  readonly receipts: Receipt[] = [];
  readonly sends: EndedSend[] = [];
  /** Sends, requests that were cancelled, and whatever ended with an error. */
  readonly ended: EndedOperation[] = [];
  /** Messages that their senders could cancel: nobody receives them. */
  readonly cancelledMessages = new Set<number>();
  readonly collectives: CollectiveResult[] = [];
  readonly communicators: MadeCommunicator[] = [];
  /** World ranks that gave up after a death, and the communicators that they revoked. */
  readonly gaveUp = new Set<number>();
  readonly revoked = new Set<number>();
  /** How races between a cancellation and its message ended; tests that claim to exercise them look here. */
  readonly races = { receiveCancelled: 0, receiveCame: 0, sendCancelled: 0, sendWent: 0 };
  readonly #clock: LogicalClock;

  /** Observations with one clock can be compared. */
  constructor(clock: LogicalClock = new LogicalClock()) {
    this.#clock = clock;
  }

  /** The memory of that process is wrong: so may be the communicators that it has made, until it is ended. */
  distrust(member: number): void {
    const kept = this.communicators.filter((made) => made.member !== member);
    this.communicators.splice(0, this.communicators.length, ...kept);
  }

  /** The next moment: what is noted later has a greater one, whatever the rank. */
  tick(): number {
    return this.#clock.ticks++;
  }

  /** A receive is posted: when that is. */
  posts(receive: number): number {
    const at = this.tick();
    const { firstPosted } = this.#clock;
    if (!firstPosted.has(receive)) firstPosted.set(receive, at);
    return at;
  }

  /** As it is now. */
  copy(): Observation {
    return Observation.of([this], this.#clock);
  }

  /** What these have seen, in one. */
  static of(parts: readonly Observation[], clock: LogicalClock): Observation {
    const all = new Observation(clock);
    for (const part of parts) {
      all.receipts.push(...part.receipts);
      all.sends.push(...part.sends);
      all.ended.push(...part.ended);
      for (const message of part.cancelledMessages) all.cancelledMessages.add(message);
      all.collectives.push(...part.collectives);
      all.communicators.push(...part.communicators);
      for (const rank of part.gaveUp) all.gaveUp.add(rank);
      for (const communicator of part.revoked) all.revoked.add(communicator);
      for (const race of Object.keys(all.races) as (keyof typeof all.races)[]) all.races[race] += part.races[race];
    }
    return all;
  }
}
