/**
 * Agreements of several processes without engines, clock or programs: packets in FIFO channels, and deaths. What happens next is chosen from
 * outside, event by event, so tests can go through all choices.
 *
 * Each member agrees `rounds` times, its flags are all but the bit of its rank: the flags of a verdict tell exactly whose contributions
 * are in it. After a verdict with an error it acknowledges what is agreed on.
 */
import assert from "node:assert/strict";
import type { WorldRank } from "../../base/brand.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import { Group } from "../../comm/group.ts";
import type { Agreement, Verdict } from "../agreement.ts";
import { Agreements } from "../agreements.ts";

const context = 16;

export type AgreementEvent =
  | { readonly kind: "join"; readonly at: number }
  | { readonly kind: "arrival"; readonly from: number; readonly to: number }
  | { readonly kind: "notice"; readonly at: number }
  | { readonly kind: "crash"; readonly at: number };

/** The process dies in the middle of an event, in place of sending. */
class Died extends Error {}

interface Member {
  readonly rank: number;
  readonly agreements: Agreements;
  readonly heard: WorldRank[];
  isAlive: boolean;
  current: Agreement | null;
  acknowledged: number;
  readonly verdicts: Verdict[];
  /** By round: the acknowledged deaths with which it joined. */
  readonly joined: number[];
}

export interface AgreementWorldOptions {
  readonly ranks: number;
  readonly rounds: number;
  /** Of packets under way when their sender dies: is this one lost? A lost packet takes those behind it along. */
  readonly isLost?: (from: number, to: number) => boolean;
}

export class AgreementWorld {
  readonly members: Member[];
  /** [from][to] */
  readonly channels: number[][][][];
  readonly deaths: WorldRank[] = [];
  packets = 0;
  private readonly options: AgreementWorldOptions;
  private readonly group: Group;
  /** The member that may not send more than so many further packets in its event. */
  private sendsLeft = Number.POSITIVE_INFINITY;

  constructor(options: AgreementWorldOptions) {
    const { ranks } = options;
    this.options = options;
    this.group = Group.world(ranks);
    this.channels = Array.from({ length: ranks }, () => Array.from({ length: ranks }, () => []));
    this.members = Array.from({ length: ranks }, (_, rank) => this.newMember(rank));
  }

  private newMember(rank: number): Member {
    const heard: WorldRank[] = [];
    const announce = (to: number, _kind: number, words: readonly number[]): void => {
      if (heard.includes(to as WorldRank)) return;
      if (this.sendsLeft-- <= 0) throw new Died();
      this.packets++;
      if (this.members[to]!.isAlive) this.channels[rank]![to]!.push([...words]);
    };
    const process = { rank, engine: { outbox: { announce } }, failures: { ranks: heard } };
    const agreements = new Agreements(process);
    const joined: number[] = [];
    return { rank, agreements, heard, isAlive: true, current: null, acknowledged: 0, verdicts: [], joined };
  }

  /** What can happen now, crashes aside. */
  events(): AgreementEvent[] {
    const { rounds } = this.options;
    const events: AgreementEvent[] = [];
    for (const { rank: at, isAlive, current, heard, verdicts } of this.members) {
      if (!isAlive) continue;
      if (current === null && verdicts.length < rounds) events.push({ kind: "join", at });
      if (heard.length < this.deaths.length) events.push({ kind: "notice", at });
      for (let from = 0; from < this.members.length; from++) {
        if (this.channels[from]![at]!.length > 0) events.push({ kind: "arrival", from, to: at });
      }
    }
    return events;
  }

  /** `sendsMax`: the process in which it happens dies in place of sending more packets. True: it died. */
  happen(event: AgreementEvent, sendsMax = Number.POSITIVE_INFINITY): boolean {
    if (event.kind === "crash") {
      this.crash(event.at);
      return true;
    }
    const member = this.members[event.kind === "arrival" ? event.to : event.at]!;
    this.sendsLeft = sendsMax;
    try {
      this.step(member, event);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      this.crash(member.rank);
      return true;
    } finally {
      this.sendsLeft = Number.POSITIVE_INFINITY;
    }
    this.returnFrom(member);
    return false;
  }

  private step(member: Member, event: AgreementEvent): void {
    const { agreements, verdicts, heard, rank } = member;
    switch (event.kind) {
      case "join": {
        const { acknowledged } = member;
        member.joined.push(acknowledged);
        const vote = { flags: ~(1 << rank), acknowledged };
        member.current = agreements.begin(context, this.group, verdicts.length, vote);
        return;
      }
      case "arrival": {
        const words = this.channels[event.from]![rank]!.shift()!;
        agreements.take(event.from as WorldRank, words);
        return;
      }
      case "notice": {
        const dead = this.deaths[heard.length]!;
        // What has arrived counts, later packets of the dead do not come.
        this.channels[dead]![rank]!.length = 0;
        heard.push(dead);
        agreements.peerFailed();
      }
    }
  }

  private returnFrom(member: Member): void {
    const { current, agreements, verdicts } = member;
    const verdict = current === null ? null : agreements.verdictOf(current);
    if (verdict === null) return;
    verdicts.push(verdict);
    member.current = null;
    if (verdict.error !== 0) member.acknowledged = Math.max(member.acknowledged, verdict.failures);
  }

  private crash(rank: number): void {
    const { isLost = () => false } = this.options;
    this.members[rank]!.isAlive = false;
    this.deaths.push(rank as WorldRank);
    for (let to = 0; to < this.members.length; to++) {
      this.channels[to]![rank]!.length = 0;
      if (isLost(rank, to)) this.channels[rank]![to]!.length = 0;
    }
  }

  /** All that have returned agree, also the dead; and what they agree on is right. */
  check(): void {
    const { rounds } = this.options;
    for (let round = 0; round < rounds; round++) {
      const verdicts = this.members.flatMap((member) => member.verdicts.slice(round, round + 1));
      const [first] = verdicts;
      if (first === undefined) continue;
      const isSame = ({ flags, failures, error }: Verdict): boolean =>
        flags === first.flags && failures === first.failures && error === first.error;
      if (!verdicts.every(isSame)) assert.fail(`round ${round}: not the same verdict: ${JSON.stringify(verdicts)}`);
      this.checkVerdict(round, first);
    }
  }

  private checkVerdict(round: number, { flags, failures, error }: Verdict): void {
    const has = (rank: number): boolean => ((flags >>> rank) & 1) === 0;
    const present = this.members.filter(({ rank }) => has(rank));
    for (const { rank, joined, isAlive } of this.members) {
      if (has(rank)) assert.ok(joined.length > round, `round ${round}: rank ${rank} is counted and has not joined`);
      const isAgreedDead = this.deaths.slice(0, failures).includes(rank as WorldRank);
      if (!has(rank)) assert.ok(isAgreedDead, `round ${round}: rank ${rank} is neither counted nor agreed to be dead`);
      if (isAlive) assert.ok(!isAgreedDead);
    }
    const acknowledged = Math.min(...present.map(({ joined }) => joined[round]!));
    const missing = this.deaths.slice(acknowledged, failures).some((rank) => !has(rank));
    assert.equal(error, missing ? ErrorClass.PROC_FAILED : 0, `round ${round}: the error`);
  }

  /** Nothing can happen any more: all that live have returned. */
  checkEnd(): void {
    const { rounds } = this.options;
    for (const { rank, isAlive, verdicts } of this.members) {
      if (isAlive) assert.equal(verdicts.length, rounds, `rank ${rank} waits for ever in round ${verdicts.length}`);
    }
  }

  /** All that the future depends on. */
  key(): string {
    const parts = this.members.map(({ agreements, heard, isAlive, current, acknowledged, verdicts, joined }) =>
      isAlive ? [heard, current?.number ?? -1, acknowledged, verdicts, joined, agreements] : [verdicts, joined],
    );
    return JSON.stringify([parts, this.channels, this.deaths], (name, value: unknown) => {
      if (name === "process") return undefined;
      if (value instanceof Map) return [...value];
      if (value instanceof Set) return [...value].sort();
      return value;
    });
  }
}
