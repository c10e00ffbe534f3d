/** The cost of a collective, for tests of the claims in the comments of algorithms. */
import { isMessage } from "../engine/rounds.ts";
import type { Schedule } from "../engine/schedule.ts";
import type { Message } from "./collective-world.ts";

/** Rounds of one rank that wait for messages. */
export const roundsOf = ({ rounds }: Schedule): number => rounds.filter((round) => round.some(isMessage)).length;

export const roundsMax = (schedules: readonly Schedule[]): number => Math.max(...schedules.map(roundsOf));

export const bytesOf = (messages: readonly Message[]): number =>
  messages.reduce((total, message) => total + message.bytes, 0);

export const sentBy = (rank: number, messages: readonly Message[]): number =>
  bytesOf(messages.filter((message) => message.from === rank));

/** Messages between ranks on different nodes. */
export const crossing = (messages: readonly Message[], nodes: readonly number[]): Message[] =>
  messages.filter(({ from, to }) => nodes[from] !== nodes[to]);

export const log2Ceiling = (size: number): number => Math.ceil(Math.log2(size));
