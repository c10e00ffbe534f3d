/** Fault plan to text. Parsing the text gives the same plan. */
import { assert, unreachable } from "../base/assert.ts";
import {
  type Entry,
  type Fault,
  type FaultPlan,
  type LinkPattern,
  type SetScope,
  type Span,
  type Victim,
  type When,
  wholeMicroseconds,
} from "./plan.ts";

export function printPlan(plan: FaultPlan): string {
  return plan.entries.map(printEntry).join("; ");
}

export function printEntry(entry: Entry): string {
  if (entry.kind === "seed") return `seed ${entry.seed}`;
  const { fault, when } = entry;
  if (fault.kind === "flip" && fault.message !== null) return printFault(fault);
  const lasts = fault.kind === "stop" || fault.kind === "cut" || fault.kind === "delay";
  return `${printFault(fault)} ${printWhen(when)}${lasts ? optional("for", printTime)(fault.forMs) : ""}`;
}

function printFault(fault: Fault): string {
  switch (fault.kind) {
    case "kill":
    case "layer-kill":
      return `${fault.kind} ${printVictim(fault.victim)}`;
    case "stop":
      return fault.node === "random" ? "stop random node" : `stop node ${fault.node}`;
    case "continue":
      return `continue node ${fault.node}`;
    case "cut":
    case "restore":
      return `${fault.kind} ${printLink(fault.link)}`;
    case "delay":
      return `delay ${printLink(fault.link)} by ${printTime(fault.byMs)}`;
    case "flip": {
      const { rank, replica } = fault.victim;
      const bits = `${fault.bits} ${fault.bits === 1 ? "bit" : "bits"}`;
      const message = fault.message === null ? "" : `message ${fault.message} of `;
      return `flip ${bits} in ${message}rank ${rank}${optional("replica", String)(replica)}`;
    }
    default:
      return unreachable(fault);
  }
}

function printVictim(victim: Victim): string {
  switch (victim.kind) {
    case "rank":
      return `rank ${victim.rank}`;
    case "node":
      return `node ${victim.node}`;
    case "set":
      return `set ${victim.set}`;
    case "service":
      return `service ${victim.service}`;
    case "random":
      return `random ${victim.of}`;
    default:
      return unreachable(victim);
  }
}

function printLink({ one, other }: LinkPattern): string {
  return `link ${one}-${other}`;
}

function printWhen(when: When): string {
  switch (when.kind) {
    case "time":
      return `at ${printSpan(when.after)}`;
    case "every":
      return `every ${printSpan(when.period)}${optional("times", String)(when.times)}${optional("from", printTime)(when.fromMs)}`;
    case "call":
      return `at call ${when.count}${optional("of rank", String)(when.rank)}`;
    case "init":
      return `at init${optional("of rank", String)(when.rank)}`;
    case "finish":
      return "at finish";
    case "checkpoint": {
      const isCommit = when.window === "commit";
      const moment = `${isCommit ? "at commit" : "at checkpoint"}${optional("", String)(when.number)}`;
      return `${moment}${printScope(when.set)}${isCommit ? "" : ` ${when.window}`}`;
    }
    case "recovery":
      return `in recovery${printScope(when.set)}${optional("number", String)(when.number)}`;
    case "log-full":
      return `at log full${printScope(when.set)}`;
    default:
      return unreachable(when);
  }
}

function printSpan(span: Span): string {
  switch (span.kind) {
    case "fixed":
      return printTime(span.ms);
    case "around":
      return `${printTime(span.ms)} ±${printTime(span.spreadMs)}`;
    case "between":
      return `random between ${printTime(span.leastMs)} and ${printTime(span.mostMs)}`;
    case "exponential":
      return `random exponential mean ${printTime(span.meanMs)}`;
    case "weibull":
      return `random weibull shape ${span.shape} scale ${printTime(span.scaleMs)}`;
    default:
      return unreachable(span);
  }
}

function printScope(set: SetScope): string {
  if (set === "own") return "";
  return set === "any" ? " of any set" : ` of set ${set}`;
}

function printTime(ms: number): string {
  assert(ms === wholeMicroseconds(ms), "times of a plan are whole microseconds");
  return ms > 0 && ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** A space, the word and the value, where there is one. */
function optional(word: string, print: (value: number) => string): (value: number | null) => string {
  return (value) => (value === null ? "" : ` ${word}${word === "" ? "" : " "}${print(value)}`);
}
