/** The bounds for clones of lost replicas. */
import { besideOne, besideTwo, fewChanging } from "../benchmarks/cloning.ts";
import { atLeast, atMost, unit } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const goal = { contender: fewChanging.id, benchmark: "cloning" };
const beside = { benchmark: "cloning", metric: "beside", x: 256, unit: "×" };

export const cloningGoals: readonly Goal[] = [
  { ...goal, what: "clone of 256 MiB, whole job", metric: "copy_mbs", x: 256, unit: "MB/s", goal: atLeast(1000, unit) },
  { ...goal, what: "clone of 1 GiB, whole job", metric: "copy_mbs", x: 1024, unit: "MB/s", goal: atLeast(1000, unit) },
  { ...goal, what: "pause for 256 MiB", metric: "pause_ms", x: 256, unit: "ms", goal: atMost(50, unit) },
  { ...goal, what: "pause for 1 GiB", metric: "pause_ms", x: 1024, unit: "ms", goal: atMost(150, unit) },
  { ...beside, contender: besideOne.id, what: "others during a clone, a core is left", goal: atLeast(0.9, unit) },
  { ...beside, contender: besideTwo.id, what: "others during a clone, full machine", goal: atLeast(0.6, unit) },
];
