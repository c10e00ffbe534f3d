/**
 * Ranks that wait for each other in a circle: the first in a call that the second has not come to, the second in another call that the third
 * has not come to, and so on back to the first. No two of them prove anything to each other (inquiries.ts does that), so a rank that has waited long
 * sends a chase along the waits: edge-chasing, K. M. Chandy, J. Misra, L. M. Haas, Distributed Deadlock Detection, ACM TOCS 1(2), 1983.
 *
 * A chase says: the sender is blocked in this call, and cannot leave it before the receiver has come to it. A receiver that has come to it drops
 * the chase. One that is blocked in a call of its own sends the chase on, to all that it waits for there. When the chase is back at the rank that
 * began it, which is still in the same call, all of them wait for ever: each receiver was found not to have come, and is blocked since then, because it
 * can only leave when the next one comes. Calls are numbered (collectives by their communicator, those of some members by each pair of
 * ranks), so whether a rank has come to one needs no message.
 *
 * The rank that finds a circle ends its own call with an error, and so does every other rank of the circle, told from the last one backwards: each
 * remembers from where a chase came. The call in which the rank before it waited counts as refused, so that what all of them call next is the same again.
 */
import type { WorldRank } from "../base/brand.ts";
import type { CollectiveCall } from "../coll/engine/collective-call.ts";

/** Which call is spoken of: words of every packet. */
export interface Subject {
  /** Of the messages of collectives. */
  readonly context: number;
  readonly tag: number;
  readonly turn: number;
}

/** The call in which the program is blocked. */
export interface BlockedCall {
  readonly subject: Subject;
  readonly call: CollectiveCall;
  /** World ranks without which the call does not end, this one perhaps among them. */
  readonly peers: readonly WorldRank[];
  /** How often this rank has come to such a call: with the subject it names this one among all. */
  readonly turn: number;
  /** Among the calls that this rank and another have in common; 0: the subject has a number that all members count. */
  numberWith(peer: WorldRank): number;
}

/** A chase as it travels: the call in which its sender is blocked, and which chase it is. */
export interface Chase {
  readonly subject: Subject;
  readonly call: CollectiveCall;
  readonly number: number;
  readonly initiator: number;
  readonly round: number;
}

export interface CircleHost {
  readonly rank: number;
  /** Null: the program is not blocked in a call that others must come to. */
  blockedCall(): BlockedCall | null;
  /** Has this rank come to the call in which that one is blocked, or will it without its program? */
  hasComeTo(source: WorldRank, subject: Subject, number: number): boolean;
  chase(rank: WorldRank, chase: Chase): void;
  /** The circle of that chase is closed. */
  close(rank: WorldRank, initiator: number, round: number): void;
  /** Ends the call in which the program is blocked; `last`: the call in which that rank waits for this one. */
  endBlockedCall(blocked: BlockedCall, source: WorldRank, last: Chase): void;
}

/** A chase that was sent on. */
interface Passed {
  readonly chase: Chase;
  readonly from: WorldRank;
  /** The call in which this rank was blocked then. */
  readonly key: string;
}

/** Chases that are remembered: more ranks than that seldom begin one at the same time, and each begins others later. */
const passedMax = 64;

export class WaitCircles {
  private readonly host: CircleHost;
  private passed: Passed[] = [];
  /** The call in which this rank was blocked when it asked last. */
  private askedIn = "";
  private round = 0;

  constructor(host: CircleHost) {
    this.host = host;
  }

  /** This rank has waited long. It begins a chase when it has asked before in the same call, and the answers have not ended it. */
  begin(peersMax: number): boolean {
    const blocked = this.host.blockedCall();
    const key = blocked === null ? "" : keyOf(blocked);
    const isFirst = key !== this.askedIn;
    this.askedIn = key;
    if (blocked === null || isFirst) return false;
    this.round++;
    this.spread(blocked, this.host.rank, this.round, peersMax);
    return true;
  }

  private spread(blocked: BlockedCall, initiator: number, round: number, peersMax: number): void {
    const { subject, call } = blocked;
    const { rank } = this.host;
    const peers = blocked.peers.filter((peer) => peer !== rank);
    for (let i = 0; i < Math.min(peers.length, peersMax); i++) {
      const peer = peers[(this.round * peersMax + i) % peers.length]!;
      this.host.chase(peer, { subject, call, number: blocked.numberWith(peer), initiator, round });
    }
  }

  take(source: WorldRank, chase: Chase, peersMax: number): void {
    const { host } = this;
    const { subject, number, initiator, round } = chase;
    if (host.hasComeTo(source, subject, number)) return;
    const blocked = host.blockedCall();
    if (blocked === null) return;
    const key = keyOf(blocked);
    if (initiator === host.rank) {
      if (round !== this.round || key !== this.askedIn) return;
      host.endBlockedCall(blocked, source, chase);
      host.close(source, initiator, round);
      return;
    }
    // Of all chases along a circle that of its lowest rank comes back, and no other: it is found once.
    if (initiator > host.rank) return;
    const isKnown = (it: Passed): boolean => it.chase.initiator === initiator && it.chase.round === round;
    if (this.passed.some((it) => isKnown(it) && it.key === key)) return;
    this.passed = this.passed.filter((it) => !isKnown(it)).slice(1 - passedMax);
    this.passed.push({ chase, from: source, key });
    this.spread(blocked, initiator, round, peersMax);
  }

  /** The rank behind this one has ended its call. */
  closed(initiator: number, round: number): void {
    const found = this.passed.find(({ chase }) => chase.initiator === initiator && chase.round === round);
    const blocked = this.host.blockedCall();
    if (found === undefined || blocked === null || keyOf(blocked) !== found.key) return;
    this.host.endBlockedCall(blocked, found.from, found.chase);
    if (found.from !== initiator) this.host.close(found.from, initiator, round);
  }
}

const keyOf = ({ subject: { context, tag, turn }, turn: own }: BlockedCall): string =>
  `${context} ${tag} ${turn} ${own}`;
