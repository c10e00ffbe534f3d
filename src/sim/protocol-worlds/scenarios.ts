/** Worlds that are made for one question, by protocol and name: each answers in lines, and tells what it is about where that takes a while. */
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { replication } from "../../core/ft/replication/definition.ts";
import { playScenario } from "../fault-layer/play-scenario.ts";
import { parseScenario } from "../fault-layer/scenario-text.ts";
import { describeTests } from "../fault-layer/tests-1-to-5.ts";
import { compareWithRecorded, type Played } from "../recorded-scenario.ts";
import { playReplicas } from "../replication/play-scenario.ts";
import { parseReplicaScenario } from "../replication/scenario-text.ts";

type Scenario = (ranks: number, progress: (text: string) => void) => Iterable<string>;

export const scenarios: Readonly<Record<string, Readonly<Record<string, Scenario>>>> = {
  [faultLayer.name]: { "tests-1-to-5": describeTests },
};

/** By protocol: plays the text of a scenario; a message instead says why it is none. */
export const textScenarios: Readonly<Record<string, (text: string) => Played | string>> = {
  [faultLayer.name]: playLayered,
  [replication.name]: playReplicated,
};

function playLayered(text: string): Played | string {
  const scenario = parseScenario(text);
  if (typeof scenario === "string") return scenario;
  const lines = playScenario(scenario);
  return typeof lines === "string" ? lines : compareWithRecorded(scenario, lines);
}

function playReplicated(text: string): Played | string {
  const scenario = parseReplicaScenario(text);
  return typeof scenario === "string" ? scenario : compareWithRecorded(scenario, playReplicas(scenario));
}
