import { memoryOne, memoryTwo, plainNone } from "../../contenders/contenders.ts";
import type { Contender } from "../../measuring/series.ts";

/** Without the protocol, and with one memory and two. */
export const memoryModes: readonly { readonly contender: Contender; readonly memories: number }[] = [
  { contender: plainNone, memories: 0 },
  { contender: memoryOne, memories: 1 },
  { contender: memoryTwo, memories: 2 },
];

/** Options of `banyan run` for jobs with so many channel memories; 0: without the protocol. */
export const optionsOfMemories = (memories: number): string[] =>
  memories === 0 ? [] : ["--protocol", "channel-memory", "--memories", `${memories}`];
