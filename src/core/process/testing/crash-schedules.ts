/**
 * Schedules of small worlds in which processes die at any step: orders of delivery, orders in which the others hear of a death, and every
 * place at which a process can die.
 */
import assert from "node:assert/strict";
import { type Fate, type FifoChannels, placeOf, type ScheduledEvent } from "./fifo-channels.ts";

/** A world of processes that are driven event by event. */
export interface ScheduledWorld {
  readonly channels: FifoChannels;
  /** What can happen now, crashes aside. */
  events(): ScheduledEvent[];
  /** `sendsMax`: the process in which it happens dies in place of sending more packets. */
  happen(event: ScheduledEvent, sendsMax?: number): void;
  /** What must hold at any time; and when nothing can happen any more. */
  check(): void;
  checkEnd(): void;
}

export type Order = (events: readonly ScheduledEvent[], step: number) => ScheduledEvent;

export const orders: Readonly<Record<string, Order>> = {
  "lowest receiver first": (events) => events.reduce((a, b) => (placeOf(b) < placeOf(a) ? b : a)),
  "highest receiver first": (events) => events.reduce((a, b) => (placeOf(b) > placeOf(a) ? b : a)),
  "in turn": (events, step) => events[step % events.length]!,
  "in turn, backwards": (events, step) => events[events.length - 1 - (step % events.length)]!,
  random: (events, step) => events[(Math.imul(step + 7, 0x9e3779b1) % events.length) >>> 0] ?? events[0]!,
  "another random": (events, step) => events[(Math.imul(step + 3, 0x85ebca6b) >>> 7) % events.length]!,
};

/** Which members hear of deaths as soon as they can; the others when nothing else is left to happen to them. */
type Hearing = (rank: number) => boolean;

export function hearings(ranks: number): Hearing[] {
  const all: Hearing[] = [() => true, () => false, (rank) => rank % 2 === 0];
  for (let one = 0; one < ranks; one += 3)
    all.push(
      (rank) => rank === one,
      (rank) => rank !== one,
    );
  return all;
}

export const fates: readonly Fate[] = [() => false, () => true, (from, to) => (from + to) % 2 === 0];

export interface Crash {
  /** At this event, counted over the whole run. */
  readonly step: number;
  /** The process in which it happens dies in place of sending more packets than these; −1: before the event. */
  readonly sends: number;
  /** Dies before the event; the process in which it happens, unless given. */
  readonly victim?: number;
}

interface Schedule {
  readonly order: Order;
  readonly hearsEarly: Hearing;
  readonly crashes: readonly Crash[];
}

/** Runs a world to its end, and checks it. How many packets each event sent. */
export function runSchedule(world: ScheduledWorld, { order, hearsEarly, crashes }: Schedule): number[] {
  const { channels } = world;
  const sent: number[] = [];
  for (let step = 0; ; step++) {
    assert.ok(step < 20_000, "it goes on for ever");
    const all = world.events();
    if (all.length === 0) break;
    const late = all.filter((event) => event.kind !== "notice" || hearsEarly(event.at));
    const early = late.filter((event) => event.kind === "notice");
    const event = order(early.length > 0 ? early : late.length > 0 ? late : all, step);
    const before = channels.packets;
    const crash = crashes.find((each) => each.step === step);
    if (crash === undefined) world.happen(event);
    else if (crash.sends < 0) {
      const at = crash.victim ?? placeOf(event);
      if (channels.isAlive(at)) world.happen({ kind: "crash", at });
    } else world.happen(event, crash.sends);
    sent.push(channels.packets - before);
  }
  // Results stay, also those of the dead.
  world.check();
  world.checkEnd();
  return sent;
}

/** Every place at which a process can die in a run: before each event, and before each packet that is sent in it. */
export function* crashesOf(sent: readonly number[], from = 0): Generator<Crash> {
  for (let step = from; step < sent.length; step++) {
    for (let sends = -1; sends < sent[step]!; sends++) yield { step, sends };
  }
}
