/** The bounds for channel memories: two hops instead of one, and large messages are forwarded while they come. */
import { memoryOne, plainNone } from "../contenders/contenders.ts";
import { atMost } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const pingPong = { contender: memoryOne.id, benchmark: "channel-memory-ping-pong", metric: "latency_us", unit: "µs" };
const none = (x: number) =>
  ({ kind: "own", metric: "latency_us", x, contender: plainNone.id, label: "none over TCP" }) as const;

export const channelMemoryGoals: readonly Goal[] = [
  { ...pingPong, what: "8-byte latency through a memory", x: 8, goal: atMost(2.1, none(8)) },
  { ...pingPong, what: "1 MiB through a memory", x: 1 << 20, goal: atMost(1.3, none(1 << 20)) },
];
