/** Worlds of random programs, one for each seed, under protocols that start the lost again: one line for each protocol. */
import { channelMemory } from "../../core/ft/channel-memory/definition.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import { channelMemoryWorld } from "../channel-memory/run-channel-memory-seed.ts";
import { loggingWorld } from "../logging/run-logging-seed.ts";
import type { RecoveringSeedOptions, SeededWorld } from "./seeded-world.ts";

export const recoveringSeeds: Readonly<Record<string, (options: RecoveringSeedOptions) => SeededWorld>> = {
  [logging.name]: loggingWorld,
  [channelMemory.name]: channelMemoryWorld,
};

/** Under these every rank falls for itself. */
export const withoutSets: readonly string[] = [channelMemory.name];
