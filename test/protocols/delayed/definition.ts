import { countText } from "../../../src/core/base/amounts.ts";
import { object, whole } from "../../../src/core/base/value-shape.ts";
import type { ProtocolDefinition } from "../../../src/core/ft/definition.ts";
import { isWhole } from "../../../src/core/ft/option.ts";
import { noShapes } from "../../../src/core/ft/protocol-shapes.ts";
import { DelayedProtocol, type DelayedReport } from "./delayed-protocol.ts";

/** From a node to the part for the job: how many ranks the node has, or, when that is 0, the answer that it was given. */
export interface NodeGreeting {
  readonly ranks: number;
  readonly confirms: number;
}

/** The answer. */
export interface NodeWelcome {
  readonly sum: number;
}

const count = whole(0, Number.MAX_SAFE_INTEGER);
const delayDefault = 3;
const delayMax = 1000;

export const delayed: ProtocolDefinition = {
  name: "delayed",
  help: "holds every send back for a while: a protocol for tests of protocols",
  examples: ["banyan run -n 4 --protocol delayed --delay 5 solver.c"],
  deaths: "fatal",
  boards: "never",
  refusals: { spawn: null, freezing: null, sharedThreads: null },
  options: [
    {
      key: "delay",
      flag: "--delay <number>",
      help: "for how many steps of progress a send is held back under delayed (default: 3)",
      form: { kind: "whole number" },
      elsewhere: (owners) => `Cannot delay sends: only --protocol ${owners} does`,
    },
  ],
  replicas: null,
  check({ delay }) {
    if (delay === undefined || isWhole(delay, 0, delayMax)) return undefined;
    return `Cannot delay sends by ${delay} steps: give a whole number up to ${delayMax}`;
  },
  checkpoints: null,
  rank: ({ options }) => {
    const { delay = delayDefault } = options as { readonly delay?: number };
    return (ports) => new DelayedProtocol(delay, ports);
  },
  shapes: {
    ...noShapes,
    report: object<DelayedReport>({ held: count }),
    fromNode: object<NodeGreeting>({ ranks: count, confirms: count }),
    toNode: object<NodeWelcome>({ sum: count }),
  },
  summary({ ranks }) {
    const held = (ranks as readonly (DelayedReport | undefined)[]).reduce((sum, it) => sum + (it?.held ?? 0), 0);
    return [`${countText(held, "send")} delayed`];
  },
};
