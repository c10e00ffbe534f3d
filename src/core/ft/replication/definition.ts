/** Replication for send-deterministic programs, as the rest of the runtime knows it. */
import { flag, list, object, oneOf, whole } from "../../base/value-shape.ts";
import { checkpointPlan } from "../checkpoint-options.ts";
import type { CloneBeginning } from "../clones.ts";
import type { ProtocolDefinition } from "../definition.ts";
import { noShapes } from "../protocol-shapes.ts";
import { type DivergedWords, divergedShape } from "./comparing/divergence.ts";
import type { Suspicion } from "./comparing/message-comparison.ts";
import type { SendDivergence } from "./comparing/send-comparison.ts";
import { type SuspectedWords, suspectedShape } from "./comparing/suspicion.ts";
import { Membership, replicasMax } from "./membership.ts";
import {
  checkReplication,
  comparedBy,
  flipsOf,
  isSustained,
  replicaPlan,
  replicationOptions,
  replicationVariant,
  sparesOf,
  withPlannedFlips,
} from "./options.ts";
import { type Replicated, replicationSummary } from "./report.ts";
import { replicaOfVariant } from "./variants.ts";

/** What the host of a rank has for it; nothing where nobody listens. */
export interface ReplicationResources {
  /** Replicas of the rank send different messages. */
  diverged(divergence: SendDivergence): void;
  /** Replicas of a rank have sent this one different messages. */
  suspect(suspicion: Suspicion): void;
}

const count = whole(0, Number.MAX_SAFE_INTEGER);
const replica = whole(0, replicasMax - 1);

export const replication: ProtocolDefinition = {
  name: "replication",
  help: "several processes play each rank, and while one of them lives nothing stops (send-deterministic programs)",
  examples: [
    "banyan run -n 4 --nodes 4 --protocol replication --replicas 2 solver.c",
    'banyan run -n 4 --nodes 2 --protocol replication --faults "kill node 1 at 2s" solver.c',
    "banyan run -n 4 --nodes 4 --protocol replication --sustain --spares 2 solver.c",
    "banyan run -n 4 --nodes 3 --protocol replication --replicas 3 --compare hash solver.c",
  ],
  deaths: "covered",
  boards: "never",
  refusals: {
    spawn: "protocol replication cannot start them in all replicas; run without --protocol",
    freezing: "its replicas are not at one place of the program",
    sharedThreads: "replicas that take turns in a thread would wait for each other",
  },
  options: replicationOptions,
  replicas: replicaPlan,
  clones: isSustained,
  spares: sparesOf,
  check: checkReplication,
  withPlannedFlips,
  checkpoints: (values) => ({ ...checkpointPlan(values), isOfAll: comparedBy(values) !== null }),
  rank: ({ rank, replica, ranks, options, passed, resources }) => {
    const membership = new Membership(replicaPlan(options, ranks), isSustained(options));
    const heard = resources as ReplicationResources | undefined;
    const diverged = (divergence: SendDivergence): void => heard?.diverged(divergence);
    const suspect = (suspicion: Suspicion): void => heard?.suspect(suspicion);
    const comparing = { comparing: comparedBy(options), suspect };
    const flips = flipsOf(options).filter((flip) => flip.rank === rank && flip.replica === replica);
    const process = { rank, replica, membership, passed, diverged, flips, ...comparing };
    return (ports) => replicaOfVariant(replicationVariant(options), process, ports);
  },
  shapes: {
    ...noShapes,
    forRanks: object<CloneBeginning>({
      replica,
      members: list(object<CloneBeginning["members"][number]>({ rank: count, replica, life: count, isAlive: flag })),
    }),
    fromRank: oneOf<DivergedWords | SuspectedWords>({ diverged: divergedShape, suspected: suspectedShape }),
    report: object<Replicated>({
      rank: count,
      replica,
      stoodInFor: list(replica),
      sent: count,
      sentForOthers: count,
      acknowledgements: count,
      duplicates: count,
      compared: count,
      uncompared: count,
      comparedBytes: count,
    }),
  },
  summary: replicationSummary,
};
