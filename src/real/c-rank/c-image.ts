/** Images of a rank whose program is written in C: taken when all ranks have stopped, and read when they go on. */
import { createHash } from "node:crypto";
import type { UnwoundStack } from "../../abi/c-program.ts";
import { type Companions, restoreProcess, saveProcess, stateLayout } from "../../abi/process-state.ts";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import { unusedArea } from "../../core/request/memory-marks.ts";
import { checkHeader, type Expectation } from "../../image/header.ts";
import { type MemoryRange, rangesWithout } from "../../image/ranges.ts";
import type { Descriptors } from "../../wasi/descriptors.ts";
import type { Library, Pause } from "../../wasi/ports.ts";
import type { ArrivedClone } from "../cloning/messages.ts";
import { imageFileError } from "../image/file-error.ts";
import { imagePath } from "../image/image-path.ts";
import { readImage } from "../image/read-image.ts";
import type { ImageContents } from "../image/write-image.ts";
import type { Folder } from "../messages/program-place.ts";
import type { LinePlaces } from "../output/line-ring.ts";
import type { InputPlace } from "./c-library.ts";
import type { CRankProcess } from "./c-rank-process.ts";
import { checkDescriptors } from "./restored-descriptors.ts";

/** Everything of a process beside what its `Program` holds. */
export interface CRankSavedState {
  readonly stack: UnwoundStack;
  /** Has the program come to its end? Then the rank only waits for the others. */
  readonly end: { isReached: boolean };
  readonly clock: ProgramClock;
  readonly descriptors: Descriptors;
  readonly pause: Pause;
  /** How far it has printed. */
  readonly lines: LinePlaces;
  /** How far it has read. */
  readonly input: InputPlace;
  /** Where its randomness comes from under a protocol that replays. */
  readonly random: SeededRandom;
}

/** Readings of the clocks when the image was taken: they go on from there. */
interface ProgramClock {
  nowS: number;
  steadyNs: bigint;
}

export const moduleHash = (module: Uint8Array): string => createHash("sha256").update(module).digest("hex");

export interface ImageOptions {
  readonly folder: string;
  /** Of the process; and the rank that it plays. */
  readonly rank: number;
  readonly role: number;
  readonly ranks: number;
  /** Of the program's module. */
  readonly program: string;
  /** The folders that the program is given. */
  readonly folders: readonly Folder[];
  /** The image of a frozen job, not of a checkpoint. */
  readonly isFrozen: boolean;
}

/** All of the image, as the process stands still. */
export function imageOf(
  rank: CRankProcess,
  life: CRankSavedState,
  library: Library,
  options: ImageOptions,
): ImageContents {
  const { memory, program, host } = rank;
  life.descriptors.beforeSave();
  life.clock.nowS = host.now();
  life.clock.steadyNs = library.steadyTime();
  return {
    header: { program: options.program, layout: stateLayout, rank: options.role, ranks: options.ranks },
    state: saveProcess(program, life as unknown as Companions, { files: library.files }),
    memory: memory.memory,
    ranges: rangesOf(rank, life),
  };
}

/** What a process that stands still uses of its memory. */
export const rangesOf = ({ memory }: CRankProcess, { stack }: Pick<CRankSavedState, "stack">): MemoryRange[] =>
  rangesWithout(memory.ranges(), unusedArea(stack, memory.words));

/** Fills a new process: its memory, its state, what it has open. */
export function readLife(rank: CRankProcess, life: CRankSavedState, library: Library, options: ImageOptions): void {
  const path = imagePath(options.folder, options.rank);
  const { state } = readImage(path, rank.memory.memory, expectationOf(options));
  restoreLife(rank, life, library, { state, what: `image ${path}`, folders: options.folders });
}

/** The same of a process whose memory is filled. */
export function takeLife(
  rank: CRankProcess,
  life: CRankSavedState,
  library: Library,
  { header, state, options }: Pick<ArrivedClone, "header" | "state"> & { readonly options: ImageOptions },
): void {
  checkHeader(header, { ...expectationOf(options), isWhole: true });
  restoreLife(rank, life, library, { state, what: "the image that has arrived", folders: options.folders });
}

const expectationOf = ({ program, role, ranks, isFrozen }: ImageOptions): Expectation => ({
  program,
  layout: stateLayout,
  rank: role,
  ranks,
  isWhole: isFrozen,
});

interface RestoredState {
  readonly state: Uint8Array;
  /** For messages to people. */
  readonly what: string;
  readonly folders: readonly Folder[];
}

function restoreLife(
  { program, host }: CRankProcess,
  life: CRankSavedState,
  library: Library,
  { state, what, folders }: RestoredState,
): void {
  restoreProcess(program, state, life as unknown as Companions, { files: library.files });
  checkImage(what, life, folders);
  life.descriptors.afterRestore();
  host.clockShiftS += life.clock.nowS - host.now();
  library.steadyShiftNs += life.clock.steadyNs - library.steadyTime();
}

function checkImage(what: string, life: CRankSavedState, folders: readonly Folder[]): void {
  try {
    checkDescriptors(life.descriptors.all(), folders);
  } catch (error) {
    throw imageFileError(`Cannot use ${what}`, error);
  }
}
