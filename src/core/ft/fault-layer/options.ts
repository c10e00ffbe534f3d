/** Options of the fault-simulation layer. */
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";

export interface FaultLayerLaunchOptions {
  /** Under the fault layer: successors of a process in the tree over which processes synchronise; 2 unless given. */
  readonly fanOut?: number | undefined;
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
];

/** The first mistake in the values, in one line; undefined: there is none. */
export function checkFaultLayer(values: OptionValues): string | undefined {
  const { fanOut } = values as FaultLayerLaunchOptions;
  if (fanOut === undefined || isWhole(fanOut, 1, fanOutMax)) return undefined;
  return `Cannot have ${fanOut} successors in the tree: give a whole number from 1 to ${fanOutMax}`;
}

export const fanOutOf = (values: OptionValues): number => (values as FaultLayerLaunchOptions).fanOut ?? fanOutDefault;
