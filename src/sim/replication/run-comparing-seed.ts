/**
 * From a seed to judged worlds of replicas that compare whole messages (D1): a random send-deterministic program; bits of one replica's
 * messages that flip, or none. With three replicas every world comes to the right answer, whoever was hit; with two the job stops and names the
 * message; without flips nobody is suspected, whoever dies.
 */
import type { Suspicion } from "../../core/ft/replication/comparing/message-comparison.ts";
import { Random } from "../random.ts";
import { type Flipped, Flips } from "./flips.ts";
import { type ReplicatedOutcome, type ReplicationSeedOptions, runReplicationSeed } from "./run-replication-seed.ts";

interface ComparedOutcome extends ReplicatedOutcome {
  readonly flipped: readonly Flipped[];
}

/** Of so many seeds one has no flips, but deaths; and of so many one is of the mirror protocol. */
const peacefulEvery = 3;
const mirrorEvery = 4;

export function runComparingSeed(options: ReplicationSeedOptions): ComparedOutcome {
  const random = new Random(options.seed);
  const variant = options.variant ?? (random.below(mirrorEvery) === 0 ? "mirror" : "parallel");
  if (options.seed % peacefulEvery === 0) {
    const outcome = runReplicationSeed({ ...options, variant, flips: Flips.none(random) });
    return { ...outcome, flipped: [], violations: [...outcome.violations, ...falseAlarms(outcome.suspicions)] };
  }
  const replicas = options.replicas ?? random.pick([2, 3, 3, 4]);
  const ranks = options.ranks ?? random.pick([2, 2, 3, 4, 5]);
  const plan = {
    rank: random.below(ranks),
    replica: random.below(replicas),
    message: random.pick([0, 1, 3, 10, 30]),
    bits: random.pick([1, 1, 2, 3, 8]),
    where: random.pick(["memory", "memory", "way"] as const),
  };
  const flips = new Flips(plan, random.fork());
  const world = { variant, replicas, ranks, deaths: "none", isPartial: false } as const;
  const outcome = runReplicationSeed({ ...options, ...world, flips });
  const [flipped] = flips.done;
  // Where all replicas send to all, one message of several is taken: that which was flipped on its way may be none of those, nor any other of its sender's.
  const isReached = flipped !== undefined && (flipped.where === "memory" || variant === "parallel");
  const { receiversOfMore } = flips;
  const isOfFlip = (what: string): boolean =>
    flipped !== undefined && (isOwn(flipped, what) || isLeftBy(receiversOfMore, what));
  const violations = outcome.violations.filter(({ what }) => !isOfFlip(what));
  if (flipped === undefined) violations.push(...falseAlarms(outcome.suspicions));
  else if (isReached || outcome.suspicions.length > 0) violations.push(...misses(flipped, outcome, replicas));
  for (const name of isReached ? flips.letIn : []) {
    violations.push({ invariant: "no flip gets in", what: JSON.stringify(name) });
  }
  return { ...outcome, flipped: isReached ? flips.done : [], violations };
}

/** What the process itself sees whose memory is wrong, until it is ended. Whatever others see must be right. */
export const isOwn = ({ rank, replica }: Flipped, what: string): boolean =>
  what.startsWith(`world ${replica}: rank ${rank}`) ||
  (what.startsWith(`world ${replica}: `) && new RegExp(`, rank ${rank}: `).test(what));

/** A process has a message left that only the replica which was hit has sent: its memory was wrong when it went on. Nobody has seen it. */
function isLeftBy(receivers: ReadonlySet<number>, what: string): boolean {
  const left =
    /^world \d+: rank (\d+) has left \d+ (?:requests or envelopes|bytes of unexpected messages|bytes of memory)$/;
  const [, rank] = left.exec(what) ?? [];
  return rank !== undefined && receivers.has(Number(rank));
}

const falseAlarms = (suspicions: readonly Suspicion[]) =>
  suspicions.map((suspicion) => ({ invariant: "no false alarms", what: JSON.stringify(suspicion) }));

/**
 * The replica that was hit is found, and nobody else is. Memory that is wrong may be in several messages, and each of them may be the first that is judged: the replica
 * is ended, and others of them may never be. A message that was hit on its way must be found itself.
 */
function misses(flipped: Flipped, { suspicions }: ReplicatedOutcome, replicas: number) {
  const accused = replicas === 2 ? -1 : flipped.replica;
  const isIt = ({ dest, sequence }: Suspicion): boolean => dest === flipped.dest && sequence === flipped.sequence;
  const found = suspicions.some((each) => each.rank === flipped.rank && (flipped.where === "memory" || isIt(each)));
  const wrong = suspicions.filter((suspicion) => suspicion.accused !== accused || suspicion.rank !== flipped.rank);
  const what = JSON.stringify({ flipped, suspicions });
  if (!found) return [{ invariant: "flips are found", what }];
  return wrong.length === 0 ? [] : [{ invariant: "nobody else is accused", what }];
}
