/** The instrument of `banyan check-determinism` in real jobs: no protocol that users choose. */
import { int32s, object, whole } from "../../base/value-shape.ts";
import type { ProtocolDefinition } from "../definition.ts";
import { isWhole } from "../option.ts";
import { noShapes } from "../protocol-shapes.ts";
import { DelayedRecorder, type RecordedRunNumbers } from "./delayed-recorder.ts";
import type { SendEntries } from "./send-log.ts";

const wholeMax = 0x7fffffff;

export const sendRecord: ProtocolDefinition = {
  name: "send-record",
  help: "writes down what ranks send",
  examples: [],
  deaths: "fatal",
  boards: "never",
  refusals: {
    spawn: "what spawned processes send is not recorded",
    freezing: "what was sent before would be lost",
    sharedThreads: null,
  },
  options: [
    {
      key: "run",
      flag: "--run <number>",
      help: "which of several runs this is",
      form: { kind: "whole number" },
      elsewhere: () => "Cannot number a run: its sends are not recorded",
    },
    {
      key: "seed",
      flag: "--seed <number>",
      help: "what the delays of its messages are drawn from",
      form: { kind: "whole number" },
      elsewhere: () => "Cannot use a seed: real jobs have none",
    },
  ],
  replicas: null,
  check({ run, seed }) {
    const isGood = [run, seed].every((value) => isWhole(value, 0, wholeMax));
    return isGood ? undefined : `Cannot record run ${run} of seed ${seed}: both must be whole numbers`;
  },
  checkpoints: null,
  rank: ({ options }) => {
    const numbers = options as unknown as RecordedRunNumbers;
    return (ports) => new DelayedRecorder(ports, numbers);
  },
  shapes: {
    ...noShapes,
    report: object<SendEntries>({ words: int32s, count: whole(0, Number.MAX_SAFE_INTEGER) }),
  },
  summary: () => [],
};
