/** What each part of the protocol is good for: without it, the seeds find worlds that go wrong. */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { long, tries } from "../../../test/long.ts";
import type { RecordId } from "../../core/base/brand.ts";
import type { ProcessName } from "../../core/base/identity.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import { MirrorProtocol } from "../../core/ft/replication/mirror-protocol.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { Arrival } from "../../core/request/decisions.ts";
import { R_BYTES, R_MODE, R_PEER, R_SEQUENCE, SendMode } from "../../core/request/records.ts";
import { SEQUENCE, SOURCE } from "../../core/wire/packet.ts";
import { type ReplicationSeedOptions, runReplicationSeed } from "./run-replication-seed.ts";

type Variant = Pick<ReplicationSeedOptions, "makeReplica" | "newMembership" | "replicas" | "variant" | "deaths">;

const seedsMax = 150;
/** Of those that nothing is found in, because nobody dies. */
const peacefulSeeds = tries(2, 30);

/** Seeds that must show it. */
const wantedSeeds = tries(1, 2);

/** The invariants that it violates, one for each seed that fails, until so many have. */
function violated(variant: Variant, wanted = wantedSeeds, seeds = seedsMax): string[] {
  const found: string[] = [];
  for (let seed = 1; seed <= seeds && found.length < wanted; seed++) {
    const { violations } = runReplicationSeed({ seed, events: 40, variant: "parallel", ...variant });
    if (violations.length > 0) found.push(violations[0]!.invariant);
  }
  return found;
}

/** Says nothing of what it holds. */
class Silent extends ReplicationProtocol {
  override held(): void {}
}

/** Takes messages for acknowledged that are not. */
class Credulous extends ReplicationProtocol {
  override sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    const rank = records.get(send, R_PEER);
    if (rank !== this.rank && this.isBelieved(send)) {
      for (let replica = 0; replica < this.membership.replicas; replica++) {
        const isOther = this.membership.substituteOf(this.rank, replica) !== this.replica;
        if (isOther) this.sends.receivers.hear({ rank, replica }, records.get(send, R_SEQUENCE), 1);
      }
    }
    return super.sendPosted(send);
  }

  protected isBelieved(_send: RecordId): boolean {
    return true;
  }
}

/** Keeps no copies: small messages are not kept at all. */
class WithoutCopies extends Credulous {
  protected override isBelieved(send: RecordId): boolean {
    const { records } = this.ports;
    return records.get(send, R_BYTES) <= 64 && records.get(send, R_MODE) !== SendMode.SYNCHRONOUS;
  }
}

/** Takes every message that comes, as often as it comes. */
class Forgetful extends ReplicationProtocol {
  override arrived(words: Int32Array, packet: number): Arrival {
    const arrival = super.arrived(words, packet);
    const isBroken = this.ports.isBroken(words[packet + SOURCE]!, words[packet + SEQUENCE]!);
    return arrival === Arrival.AGAIN || isBroken ? arrival : Arrival.TAKE;
  }
}

/** Mirrored: does not ask again for what the dead was sending. */
class Incurious extends MirrorProtocol {
  override peerFailed(name: ProcessName, incarnation?: number): void {
    ReplicationProtocol.prototype.peerFailed.call(this, name, incarnation);
  }
}

/** Senders and receivers choose the substitute differently. */
class TwoOrders extends Membership {
  override worldsOf(rank: number, replica: number): number {
    let worlds = 1 << replica;
    const lowest = Math.log2(this.livingOf(rank) & -this.livingOf(rank));
    if (replica === lowest) worlds |= this.deadOf(rank);
    return worlds;
  }
}

/** The substitute of a substitute takes over its own world alone (without line 22 of the algorithm). */
class OneStep extends Membership {
  override worldsOf(rank: number, replica: number): number {
    const before = (replica + this.replicas - 1) % this.replicas;
    return (1 << replica) | (this.isAlive(rank, before) ? 0 : 1 << before);
  }
}

describe("R3, R4 what is left out of the protocol is missed", () => {
  it("R3 the acknowledgement: senders wait for ever, even when nobody dies", () => {
    const found = violated({ makeReplica: (...all) => new Silent(...all), deaths: "none" });
    equal(found.length, wantedSeeds);
    ok(found.includes("nobody is stuck"), found.join());
  });

  it("R3 the wait for it: what only the dead had sent is lost", () => {
    equal(violated({ makeReplica: (...all) => new Credulous(...all) }).length, wantedSeeds);
    equal(violated({ makeReplica: (...all) => new Credulous(...all), deaths: "none" }, 1, peacefulSeeds).length, 0);
  });

  it("R3 the copy: small messages of the dead are lost", () => {
    equal(violated({ makeReplica: (...all) => new WithoutCopies(...all) }).length, wantedSeeds);
  });

  it("R4 the check for duplicates: messages are received twice", long, () => {
    equal(violated({ makeReplica: (...all) => new Forgetful(...all) }).length, wantedSeeds);
    equal(violated({ makeReplica: (...all) => new Forgetful(...all), deaths: "none" }, 1, peacefulSeeds).length, 0);
  });

  it("R8 mirrored, the question for what the dead was sending: its receiver waits for ever", long, () => {
    const found = violated({ makeReplica: (...all) => new Incurious(...all), variant: "mirror" });
    ok(found.includes("nobody is stuck"), found.join());
    equal(
      violated({ makeReplica: (...all) => new Incurious(...all), variant: "mirror", deaths: "none" }, 1, peacefulSeeds)
        .length,
      0,
    );
  });

  it("R4 one order of substitution for all", long, () => {
    equal(violated({ newMembership: (plan) => new TwoOrders(plan), replicas: 4 }).length, wantedSeeds);
  });

  it("R4 line 22: a substitute inherits from a substitute", long, () => {
    equal(violated({ newMembership: (plan) => new OneStep(plan), replicas: 4 }).length, wantedSeeds);
  });
});

describe("R4 the substitute", () => {
  it("is a function of the set of the dead, whatever the order of the news, and unique", () => {
    for (let replicas = 1; replicas <= 5; replicas++) {
      for (let dead = 0; dead < (1 << replicas) - 1; dead++) {
        const order = Array.from({ length: replicas }, (_, replica) => replica).filter(
          (replica) => dead & (1 << replica),
        );
        const [one, other] = [new Membership([replicas]), new Membership([replicas])];
        for (const replica of order) one.die(0, replica);
        for (const replica of order.reverse()) other.die(0, replica);
        let worlds = 0;
        for (let replica = 0; replica < replicas; replica++) {
          equal(one.substituteOf(0, replica), other.substituteOf(0, replica));
          ok(one.isAlive(0, one.substituteOf(0, replica)));
          const own = one.isAlive(0, replica) ? one.worldsOf(0, replica) : 0;
          equal(worlds & own, 0, "no world has two senders");
          worlds |= own;
        }
        equal(worlds, (1 << replicas) - 1, "every world has one");
      }
    }
  });
});
