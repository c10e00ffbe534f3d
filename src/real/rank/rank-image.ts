/**
 * Images of a rank whose program is written in TypeScript: what the program gave to `mpi.checkpoint`, and everything of ours that
 * must go on from there, engine and protocol above all. The program's own objects are not in it: it begins anew.
 *
 * Messages that are kept, or have not been received, have their bytes in the node's memory, which falls with the node: they are
 * copied into the state, and get new places when it is restored.
 */
import type { Pointer } from "../../core/base/brand.ts";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import type { Process } from "../../core/process/process.ts";
import { storedPayloads } from "../../core/process/program-checkpoint.ts";
import { restoreState } from "../../image/state/restore-state.ts";
import { saveState } from "../../image/state/save-state.ts";
import { imagePath } from "../image/image-path.ts";
import { readImage } from "../image/read-image.ts";
import { newStage, writeImagePart } from "../image/write-image.ts";
import type { LinePlaces } from "../output/line-ring.ts";

/** Version of what is written here. */
const rankLayout = 4;
/** Images have one; this one is empty. */
const newMemory = (): WebAssembly.Memory => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

/** Everything of a rank beside its process. Plain data. */
export interface RankSavedState {
  readonly lines: LinePlaces;
  readonly random: SeededRandom;
  readonly clock: { nowS: number; steadyMs: number };
  readonly input: { offset: number };
  readonly awaits: { count: number };
  /** The program's own state, as bytes; null: none yet. */
  readonly program: { state: Uint8Array | null };
}

export interface RankImageOptions {
  readonly folder: string;
  /** Of the process; and the rank that it plays. */
  readonly rank: number;
  readonly role: number;
  readonly ranks: number;
  /** The program's file: images of one are not for another. */
  readonly program: string;
}

interface Payload {
  readonly bytes: number;
  pointer: number;
}

function payloadsOf(process: Process): Payload[] {
  return [...(process.protocol?.kept ?? []), ...storedPayloads(process)];
}

/** The image is in its file; somebody else has to make it durable, see `writeImagePart`. */
export function takeRankImage(process: Process, life: RankSavedState, options: RankImageOptions): void {
  const payloads = payloadsOf(process).map(({ pointer, bytes }) =>
    process.memory.view(pointer as Pointer, bytes).slice(),
  );
  const names = new Map<object, string>();
  for (const [name, object] of worldOf(process)) if (object !== null) names.set(object, name);
  const state = saveState({ process, life, payloads: { all: payloads } }, names);
  const { folder, rank, role, ranks, program } = options;
  const header = { program, layout: rankLayout, rank: role, ranks };
  const memory = newMemory();
  const how = { stage: newStage(memory, { books: 1, isLive: false }), book: 0, base: null };
  writeImagePart(imagePath(folder, rank), { header, state, memory, ranges: [] }, how);
}

/** Throws an `ImageError` or a `StateError`. */
export function readRankImage(process: Process, life: RankSavedState, options: RankImageOptions): void {
  const { folder, rank, role, ranks, program } = options;
  const expected = { program, layout: rankLayout, rank: role, ranks };
  const { state } = readImage(imagePath(folder, rank), newMemory(), expected);
  const payloads: { all: Uint8Array[] } = { all: [] };
  restoreState(state, { process, life, payloads }, worldOf(process));
  for (const [i, payload] of payloadsOf(process).entries()) {
    const pointer = process.memory.allocate(payload.bytes);
    process.memory.view(pointer, payload.bytes).set(payloads.all[i]!);
    payload.pointer = pointer;
  }
  process.reopenBoards();
}

/** What a process finds rather than has: by name. */
function worldOf({ engine, boards, nodeMap, memory }: Process): Map<string, object | null> {
  return new Map<string, object | null>([
    ["transport", engine.transport],
    ["boards", boards],
    ["nodes", nodeMap],
    ["memory", memory],
  ]);
}
