/** Options of the fault-simulation layer. */
import type { PlannedDeaths } from "../definition.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";
import { decimalOf, lifetimesOf, lifetimesText } from "./lifetimes.ts";

export interface FaultLayerLaunchOptions {
  /** Under the fault layer: successors of a process in the tree over which processes synchronise; 2 unless given. */
  readonly fanOut?: number | undefined;
  /** Under the fault layer: how processes tell all others something, by a tree of their own or by broadcasts of the base; "tree" unless given. */
  readonly background?: string | undefined;
  /** Under the fault layer: how long processes live, such as "weibull:0.7,30s"; until the job ends unless given. */
  readonly lifetimes?: string | undefined;
  /** Under the fault layer: the probability with which each bit of a message flips, such as "1e-9"; 0 unless given. */
  readonly bitFlips?: string | undefined;
}

const fanOutDefault = 2;
const fanOutMax = 1024;
/** Those of core/fault-layer. */
const backgroundWays = ["tree", "ibcast"] as const;
type BackgroundWay = (typeof backgroundWays)[number];

export const faultLayerOptions: readonly ProtocolOption[] = [
  {
    key: "fanOut",
    flag: "--fan-out <number>",
    help: `successors of a process in the tree of the fault layer (default: ${fanOutDefault})`,
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot choose the width of a tree: only --protocol ${owners} has one`,
  },
  {
    key: "background",
    flag: "--background <way>",
    help: "how the fault layer tells all processes something: tree (its own, the default) or ibcast (broadcasts of the runtime)",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot choose how processes tell each other of deaths: only --protocol ${owners} lets you`,
  },
  {
    key: "lifetimes",
    flag: "--lifetimes <distribution>",
    help: `processes die by themselves, for the program alone: ${lifetimesText}`,
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot give processes lifetimes: only under --protocol ${owners} they die by themselves`,
  },
  {
    key: "bitFlips",
    flag: "--bit-flips <probability>",
    help: "each bit of the program's messages flips with that probability, such as 1e-9",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot flip bits of messages: only --protocol ${owners} does`,
  },
];

/** The first mistake in the values, in one line; undefined: there is none. */
export function checkFaultLayer(values: OptionValues): string | undefined {
  const { fanOut, background, lifetimes, bitFlips } = values as FaultLayerLaunchOptions;
  if (fanOut !== undefined && !isWhole(fanOut, 1, fanOutMax)) {
    return `Cannot have ${fanOut} successors in the tree: give a whole number from 1 to ${fanOutMax}`;
  }
  if (background !== undefined && !isBackgroundWay(background)) {
    return `Cannot tell processes of deaths by "${background}": give ${backgroundWays.join(" or ")}`;
  }
  if (bitFlips !== undefined && !isProbability(decimalOf(bitFlips))) {
    return `Cannot flip bits with the probability "${bitFlips}": give a number above 0 and up to 1, such as 1e-9`;
  }
  const wanted = lifetimes === undefined ? null : lifetimesOf(lifetimes);
  return typeof wanted === "string" ? wanted : undefined;
}

const isBackgroundWay = (text: string): text is BackgroundWay => backgroundWays.some((way) => way === text);

export function backgroundOf(values: OptionValues): BackgroundWay {
  const { background = "tree" } = values as FaultLayerLaunchOptions;
  return isBackgroundWay(background) ? background : "tree";
}

const isProbability = (value: number): boolean => value > 0 && value <= 1;

export function bitFlipsOf(values: OptionValues): number {
  const { bitFlips } = values as FaultLayerLaunchOptions;
  return bitFlips === undefined ? 0 : decimalOf(bitFlips);
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
