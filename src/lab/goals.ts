/** The bounds that this project has set itself for speed and size ("at least" and "goal"), line by line. */
import { banyan, banyanOrdinary, banyanShared } from "./contenders.ts";
import type { Bound, Goal, Reference } from "./goal.ts";
import type { Contender } from "./series.ts";

const openMpi: Reference = { kind: "peer", id: "openmpi" };
const mpich: Reference = { kind: "peer", id: "mpich" };
const better: Reference = { kind: "better-peer" };
const unit: Reference = { kind: "unit" };

const atMost = (factor: number, of: Reference): Bound => ({ side: "at most", factor, of });
const atLeast = (factor: number, of: Reference): Bound => ({ side: "at least", factor, of });

const kinds: readonly (readonly [Contender, string])[] = [
  [banyanShared, "shared arrays"],
  [banyanOrdinary, "ordinary arrays"],
];
const latency = { benchmark: "latency", metric: "latency_us", unit: "µs" };
const bandwidth = { benchmark: "bandwidth", metric: "bandwidth_mbs", unit: "MB/s", x: 1 << 20 };
const tcp = { benchmark: "tcp", contender: banyanShared.id };
const matching = { benchmark: "matching", contender: banyan.id, x: 100_000 };

/** "Near constant time": a hundred times as many may cost five times as much, for leaving the caches; a list a hundred. */
const nearConstant = (metric: string): Bound => atMost(5, { kind: "own", metric, x: 1_000 });

export const goals: readonly Goal[] = [
  ...kinds.map(([contender, kind]) => ({
    ...latency,
    what: `8-byte ping-pong, ${kind}`,
    contender: contender.id,
    x: 8,
    atLeast: atMost(1.2, openMpi),
    goal: atMost(0.8, openMpi),
  })),
  ...[1, 8].flatMap((kib) =>
    kinds.map(([contender, kind]) => ({
      ...latency,
      what: `${kib} KiB ping-pong, ${kind}`,
      contender: contender.id,
      x: kib << 10,
      atLeast: atMost(0.8, openMpi),
      goal: atMost(1.0, mpich),
    })),
  ),
  {
    ...bandwidth,
    what: "1 MiB bandwidth, shared arrays",
    contender: banyanShared.id,
    atLeast: atLeast(2, better),
    goal: atLeast(3, better),
  },
  {
    ...bandwidth,
    what: "1 MiB bandwidth, ordinary arrays",
    contender: banyanOrdinary.id,
    atLeast: atLeast(1.2, better),
    goal: atLeast(1.7, better),
  },
  {
    what: "8-byte allreduce, 8 ranks",
    benchmark: "allreduce",
    metric: "allreduce_us",
    contender: banyan.id,
    x: 8,
    unit: "µs",
    atLeast: atMost(0.6, openMpi),
    goal: atMost(0.3, openMpi),
  },
  {
    ...tcp,
    what: "8-byte ping-pong over TCP",
    metric: "latency_us",
    x: 8,
    unit: "µs",
    atLeast: atMost(2.5, openMpi),
    goal: atMost(1.0, openMpi),
  },
  {
    ...tcp,
    what: "1 MiB bandwidth over TCP",
    metric: "bandwidth_mbs",
    x: 1 << 20,
    unit: "MB/s",
    atLeast: atLeast(0.8, openMpi),
    goal: atLeast(1.0, openMpi),
  },
  {
    what: "start of 16 ranks to the first barrier",
    benchmark: "startup",
    metric: "startup_ms",
    contender: banyan.id,
    x: 16,
    unit: "ms",
    atLeast: atMost(1_500, unit),
    goal: atMost(700, unit),
  },
  {
    what: "memory of an idle rank",
    benchmark: "memory",
    metric: "pss_per_rank_mb",
    contender: banyan.id,
    x: 16,
    unit: "MB",
    atLeast: atMost(12, unit),
    goal: atMost(8, unit),
  },
  {
    ...matching,
    what: "receive among 100 000 unexpected messages",
    metric: "unexpected_us",
    unit: "µs",
    atLeast: nearConstant("unexpected_us"),
  },
  {
    ...matching,
    what: "message among 100 000 posted receives",
    metric: "posted_us",
    unit: "µs",
    atLeast: nearConstant("posted_us"),
  },
  {
    ...matching,
    what: "memory of 100 000 waiting messages of 4 KiB",
    metric: "queued_mb",
    unit: "MB",
    // Bounded: payloads stay with their senders, so most of what waits is envelopes.
    atLeast: atMost(0.3, { kind: "own", metric: "queued_payload_mb", x: 100_000 }),
  },
];
