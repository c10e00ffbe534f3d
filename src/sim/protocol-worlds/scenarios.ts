/** Worlds that are made for one question, by protocol and name: each answers in lines, and tells what it is about where that takes a while. */
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { describeTests } from "../fault-layer/tests-1-to-5.ts";

type Scenario = (ranks: number, progress: (text: string) => void) => Iterable<string>;

export const scenarios: Readonly<Record<string, Readonly<Record<string, Scenario>>>> = {
  [faultLayer.name]: { "tests-1-to-5": describeTests },
};
