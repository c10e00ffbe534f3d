/** The bounds for channel memories: two hops instead of one, and large messages are forwarded while they come. */
import { memoryOne, plainNone } from "../contenders/contenders.ts";
import { atLeast, atMost, unit } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const pingPong = { contender: memoryOne.id, benchmark: "channel-memory-ping-pong", metric: "latency_us", unit: "µs" };
const none = (x: number) =>
  ({ kind: "own", metric: "latency_us", x, contender: plainNone.id, label: "none over TCP" }) as const;

export const channelMemoryGoals: readonly Goal[] = [
  { ...pingPong, what: "8-byte latency through a memory", x: 8, goal: atMost(2.1, none(8)) },
  { ...pingPong, what: "1 MiB through a memory", x: 1 << 20, goal: atMost(1.3, none(1 << 20)) },
  {
    what: "a ring repeated by all its nodes",
    contender: memoryOne.id,
    benchmark: "channel-memory-ring",
    metric: "replay_us",
    x: 8,
    unit: "µs",
    goal: atMost(0.7, { kind: "own", metric: "replay_us", x: 0, label: "the first time" }),
  },
  {
    what: "bt with ten nodes killed",
    contender: memoryOne.id,
    benchmark: "channel-memory-volatility",
    metric: "faulty_s",
    x: 10,
    unit: "s",
    goal: atMost(1.4, { kind: "own", metric: "faulty_s", x: 0, label: "none killed" }),
  },
  {
    what: "speed of bt with four checkpoints of each process",
    contender: memoryOne.id,
    benchmark: "channel-memory-volatility",
    metric: "speed",
    x: 4,
    unit: "of full speed",
    goal: atLeast(0.97, unit),
  },
  {
    what: "a picture painted by workers, through a memory",
    contender: memoryOne.id,
    benchmark: "channel-memory-renderer",
    metric: "raytrace_s",
    x: 4,
    unit: "s",
    goal: atMost(1.03, { kind: "own", metric: "raytrace_s", x: 4, contender: plainNone.id, label: "none" }),
  },
];
