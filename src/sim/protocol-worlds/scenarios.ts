/** Worlds that are made for one question, by protocol and name: each answers in lines. */
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { describeTests } from "../fault-layer/tests-1-to-5.ts";

export const scenarios: Readonly<Record<string, Readonly<Record<string, (ranks: number) => Iterable<string>>>>> = {
  [faultLayer.name]: { "tests-1-to-5": describeTests },
};
