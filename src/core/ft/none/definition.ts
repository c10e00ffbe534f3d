/** No fault tolerance: the first death ends the job. The baseline of every benchmark. */
import type { ProtocolDefinition } from "../definition.ts";
import { noShapes } from "../protocol-shapes.ts";

export const none: ProtocolDefinition = {
  name: "none",
  help: "no fault tolerance: the first failure ends the job",
  examples: [],
  deaths: "fatal",
  boards: "always",
  refusals: { spawn: null, freezing: null, sharedThreads: null },
  options: [],
  replicas: null,
  check: () => undefined,
  checkpoints: null,
  rank: null,
  shapes: noShapes,
  summary: () => [],
};
