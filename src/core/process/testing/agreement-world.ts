/**
 * Agreements of several processes over channels. What happens next is chosen from outside, event by event, so tests can go through all
 * choices.
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
import type { ScheduledWorld } from "./crash-schedules.ts";
import { type Fate, FifoChannels, placeOf, type ScheduledEvent } from "./fifo-channels.ts";

const context = 16;

interface Member {
  readonly rank: number;
  readonly agreements: Agreements;
  current: Agreement | null;
  acknowledged: number;
  readonly verdicts: Verdict[];
  /** By round: the acknowledged deaths with which it joined. */
  readonly joined: number[];
}

export interface AgreementWorldOptions {
  readonly ranks: number;
  readonly rounds: number;
  readonly isLost?: Fate;
}

export class AgreementWorld implements ScheduledWorld {
  readonly channels: FifoChannels;
  private readonly members: Member[];
  private readonly rounds: number;
  private readonly group: Group;

  constructor({ ranks, rounds, isLost }: AgreementWorldOptions) {
    this.rounds = rounds;
    this.group = Group.world(ranks);
    this.channels = new FifoChannels(ranks, isLost);
    this.members = Array.from({ length: ranks }, (_, rank) => this.newMember(rank));
  }

  private newMember(rank: number): Member {
    const announce = (to: number, _kind: number, words: readonly number[]): void => this.channels.send(rank, to, words);
    const failures = { ranks: this.channels.heard[rank]! };
    const agreements = new Agreements({ rank, engine: { outbox: { announce } }, failures });
    return { rank, agreements, current: null, acknowledged: 0, verdicts: [], joined: [] };
  }

  private get living(): Member[] {
    return this.members.filter(({ rank }) => this.channels.isAlive(rank));
  }

  events(): ScheduledEvent[] {
    const events: ScheduledEvent[] = [];
    for (const { rank: at, current, verdicts } of this.living) {
      if (current === null && verdicts.length < this.rounds) events.push({ kind: "act", at });
      events.push(...this.channels.eventsAt(at));
    }
    return events;
  }

  happen(event: ScheduledEvent, sendsMax = Number.POSITIVE_INFINITY): void {
    const rank = placeOf(event);
    const member = this.members[rank]!;
    if (event.kind === "crash") this.channels.crash(rank);
    else if (!this.channels.within(rank, sendsMax, () => this.step(member, event))) this.returnFrom(member);
  }

  private step(member: Member, event: ScheduledEvent): void {
    const { agreements, verdicts, rank } = member;
    switch (event.kind) {
      case "act": {
        const { acknowledged } = member;
        member.joined.push(acknowledged);
        const vote = { flags: ~(1 << rank), acknowledged };
        member.current = agreements.begin(context, this.group, verdicts.length, vote);
        return;
      }
      case "arrival":
        agreements.take(event.from as WorldRank, this.channels.take(event.from, rank));
        return;
      case "notice":
        this.channels.hear(rank);
        agreements.peerFailed();
    }
  }

  private returnFrom(member: Member): void {
    const { rank, current, agreements, verdicts } = member;
    const verdict = current === null ? null : agreements.verdictOf(current);
    if (verdict === null) return;
    // Whoever acknowledges now what it knows of acknowledges everyone who did not contribute.
    const known = this.channels.heard[rank]!.length;
    assert.ok(
      known >= verdict.failures,
      `rank ${rank} knows of ${known} deaths, and ${verdict.failures} are agreed on`,
    );
    verdicts.push(verdict);
    member.current = null;
    if (verdict.error !== 0) member.acknowledged = Math.max(member.acknowledged, verdict.failures);
  }

  /** All that have returned agree, also the dead; and what they agree on is right. */
  check(): void {
    for (let round = 0; round < this.rounds; round++) {
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
    const { deaths } = this.channels;
    for (const { rank, joined } of this.members) {
      if (has(rank)) assert.ok(joined.length > round, `round ${round}: rank ${rank} is counted and has not joined`);
      const isAgreedDead = deaths.slice(0, failures).includes(rank as WorldRank);
      if (!has(rank)) assert.ok(isAgreedDead, `round ${round}: rank ${rank} is neither counted nor agreed to be dead`);
      if (this.channels.isAlive(rank)) assert.ok(!isAgreedDead);
    }
    const acknowledged = Math.min(...present.map(({ joined }) => joined[round]!));
    const missing = deaths.slice(acknowledged, failures).some((rank) => !has(rank));
    assert.equal(error, missing ? ErrorClass.PROC_FAILED : 0, `round ${round}: the error`);
  }

  /** Nothing can happen any more: all that live have returned. */
  checkEnd(): void {
    for (const { rank, verdicts } of this.living) {
      assert.equal(verdicts.length, this.rounds, `rank ${rank} waits for ever in round ${verdicts.length}`);
    }
  }

  /** All that the future depends on. */
  key(): string {
    const parts = this.members.map(({ rank, agreements, current, acknowledged, verdicts, joined }) =>
      this.channels.isAlive(rank)
        ? [this.channels.heard[rank], current?.number ?? -1, acknowledged, verdicts, joined, agreements]
        : [verdicts, joined],
    );
    return JSON.stringify([parts, this.channels.state()], (name, value: unknown) => {
      if (name === "process") return undefined;
      if (value instanceof Map) return [...value];
      if (value instanceof Set) return [...value].sort();
      return value;
    });
  }
}
