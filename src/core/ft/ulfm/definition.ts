/**
 * The program repairs itself (ULFM): a death ends no job. The living are told of it, their calls that need the dead raise an
 * error, and they revoke, agree, shrink and spawn as they see fit.
 */
import { countText } from "../../base/amounts.ts";
import type { ProtocolDefinition } from "../definition.ts";
import { noShapes } from "../protocol-shapes.ts";

export const ulfm: ProtocolDefinition = {
  name: "ulfm",
  help: "failures are errors of the program's calls, which it repairs itself: revoke, agree, shrink, spawn",
  examples: ['banyan run -n 8 --nodes 4 --protocol ulfm --faults "kill node 1 at 2s" solver.c'],
  deaths: "survived",
  boards: "always",
  refusals: { spawn: null, freezing: null, sharedThreads: null },
  options: [],
  replicas: null,
  check: () => undefined,
  checkpoints: null,
  rank: null,
  shapes: noShapes,
  summary: ({ dead, finished }) => {
    if (dead === 0) return [];
    const failed = `${countText(dead, "rank")} failed`;
    return [finished === 0 ? failed : `${failed}, and the program went on`];
  },
};
