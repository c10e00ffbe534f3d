/** Options of the fault-simulation layer. */
import type { PlannedDeaths } from "../definition.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";
import { lifetimesOf, lifetimesText } from "./lifetimes.ts";

export interface FaultLayerLaunchOptions {
  /** Under the fault layer: successors of a process in the tree over which processes synchronise; 2 unless given. */
  readonly fanOut?: number | undefined;
  /** Under the fault layer: how long processes live, such as "weibull:0.7,30s"; until the job ends unless given. */
  readonly lifetimes?: string | undefined;
}

const fanOutDefault = 2;
const fanOutMax = 1024;

export const faultLayerOptions: readonly ProtocolOption[] = [
  {
    key: "fanOut",
    flag: "--fan-out <number>",
    help: `successors of a process in the tree of the fault layer (default: ${fanOutDefault})`,
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot choose the width of a tree: only --protocol ${owners} has one`,
  },
  {
    key: "lifetimes",
    flag: "--lifetimes <distribution>",
    help: `processes die by themselves, for the program alone: ${lifetimesText}`,
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot give processes lifetimes: only under --protocol ${owners} they die by themselves`,
  },
];

/** The first mistake in the values, in one line; undefined: there is none. */
export function checkFaultLayer(values: OptionValues): string | undefined {
  const { fanOut, lifetimes } = values as FaultLayerLaunchOptions;
  if (fanOut !== undefined && !isWhole(fanOut, 1, fanOutMax)) {
    return `Cannot have ${fanOut} successors in the tree: give a whole number from 1 to ${fanOutMax}`;
  }
  const wanted = lifetimes === undefined ? null : lifetimesOf(lifetimes);
  return typeof wanted === "string" ? wanted : undefined;
}

export const fanOutOf = (values: OptionValues): number => (values as FaultLayerLaunchOptions).fanOut ?? fanOutDefault;

// The deaths of a fault plan travel with the options

interface WithPlan {
  readonly planned?: PlannedDeaths;
}

export const withPlannedDeaths = (values: OptionValues, planned: PlannedDeaths): OptionValues => ({
  ...values,
  planned,
});

export const plannedOf = (values: OptionValues): PlannedDeaths =>
  (values as WithPlan).planned ?? { seed: null, deaths: [] };
