/** Replicas that follow a leader: programs that are not send-deterministic (R8). */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { DecisionWord } from "../../core/ft/replication/leading/decision-log.ts";
import { DecisionLog } from "../../core/ft/replication/leading/decision-log.ts";
import { LeaderProtocol } from "../../core/ft/replication/leading/leader-protocol.ts";
import { LeaderSends } from "../../core/ft/replication/leading/leader-sends.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import type { ReplicatedSendsParts } from "../../core/ft/replication/sending/replicated-sends.ts";
import { failureText } from "../failure-text.ts";
import { type MakeReplica, runReplicationSeed } from "./run-replication-seed.ts";

describe("R8 replicas follow a leader", () => {
  it("whatever dies, all see the same, no message tells of anything else, and all worlds come to the right answer", () => {
    let deaths = 0;
    for (let seed = 1; seed <= tries(2, 100); seed++) {
      const outcome = runReplicationSeed({ seed, variant: "leader" });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      deaths += outcome.deaths;
    }
    ok(deaths > 0, `${deaths} deaths`);
  });

  const where = [
    ["a follower does not go on behind a large send that its leader waits in", 2620],
    ["a leader does not wait in a small send behind which its followers go on", 9200055],
  ] as const;
  for (const [what, seed] of where) {
    it(what, () => {
      const outcome = runReplicationSeed({ seed, variant: "leader" });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
    });
  }

  it("q messages are q·r, as without a leader", () => {
    const peaceful = { seed: 2, variant: "leader", deaths: "none", ranks: 3, events: 10 } as const;
    const [one, two] = [1, 2].map((replicas) => runReplicationSeed({ ...peaceful, replicas }).counts);
    ok(one!.sent > 0);
    equal(two!.sent, 2 * one!.sent);
  });
});

interface Left {
  readonly makeReplica: MakeReplica;
  readonly replicas: number;
  readonly deaths?: "none";
  /** A seed that shows it: the only one that runs always. */
  readonly known: number;
}

/** The invariants that the first seed violates which violates any. */
function found({ known, ...left }: Left): string[] {
  const options = { variant: "leader", events: 40, ...left } as const;
  for (let seed = tries(known, 1); seed <= known; seed++) {
    const { violations } = runReplicationSeed({ ...options, seed });
    if (violations.length > 0) return violations.map(({ invariant }) => invariant);
  }
  return [];
}

/** Its messages leave at once. */
class HastySends extends LeaderSends {
  protected override mayLeave(): boolean {
    return true;
  }
}

class Hasty extends LeaderProtocol {
  protected override newSends(parts: ReplicatedSendsParts): LeaderSends {
    return new HastySends(this.ports, parts);
  }
}

/** A new leader asks nobody what the old one has decided. */
class ProudLog extends DecisionLog {
  override died(replica: number): void {
    super.died(replica);
    this.outbox.splice(0, this.outbox.length, ...this.outbox.filter(({ word }) => word.kind !== "query"));
    Object.assign(this, { awaited: 0 });
  }

  override take(from: number, word: DecisionWord): void {
    if (word.kind !== "query") super.take(from, word);
  }
}

class ProudSends extends LeaderSends {
  override readonly log: DecisionLog;

  constructor(...all: ConstructorParameters<typeof LeaderSends>) {
    super(...all);
    const { place, membership } = all[1];
    const living = membership.livingOf(place.rank);
    this.log = new ProudLog({ replica: place.replica, replicas: membership.replicas, living });
  }
}

class Proud extends LeaderProtocol {
  protected override newSends(parts: ReplicatedSendsParts): LeaderSends {
    return new ProudSends(this.ports, parts);
  }
}

describe("R8 what is left out of the leader's protocol is missed", () => {
  it("the leader: replicas see different things, even when nobody dies", () => {
    const all = found({
      makeReplica: (...each) => new ReplicationProtocol(...each),
      replicas: 2,
      deaths: "none",
      known: 5,
    });
    ok(all.includes("replicas see the same"), all.join());
  });

  it("the wait until all hold a decision: a message tells of what its successor decides otherwise", () => {
    const all = found({ makeReplica: (...each) => new Hasty(...each), replicas: 2, known: 22 });
    ok(all.includes("replicas see the same"), all.join());
  });

  it("the question of a new leader: it decides again what others have seen", () => {
    ok(found({ makeReplica: (...each) => new Proud(...each), replicas: 3, known: 216 }).length > 0);
  });
});
