/** One rank at rest, as bytes: its engine, its protocol and the state of its script; its memory; its observations. */
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { errorsAbort, errorsAreFatal, errorsReturn } from "../../core/comm/error-handler.ts";
import { restoreState } from "../../image/state/restore-state.ts";
import { saveState } from "../../image/state/save-state.ts";
import type { RegionImage } from "../arena.ts";
import type { ScriptState } from "../interpreter/script-state.ts";
import type { Observation } from "../observation.ts";
import { exactReductions } from "../script/reductions.ts";

export interface SimRankImage {
  readonly state: Uint8Array;
  readonly memory: RegionImage;
  readonly observation: Observation;
  readonly history: number;
}

export function rankImageOf(state: ScriptState, history: number): SimRankImage {
  const names = new Map([...worldOf(state)].flatMap(([name, object]) => (object === null ? [] : [[object, name]])));
  return {
    state: saveState(rootOf(state), names),
    memory: state.process.memory.arena.imageOf(state.rank),
    observation: state.observation.copy(),
    history,
  };
}

/** `state` is a new one, of the same rank. Its life begins afterwards (`Process.beginLife`). */
export function restoreRank(state: ScriptState, image: SimRankImage): void {
  const { core } = state;
  state.process.memory.arena.restore(state.rank, image.memory);
  restoreState(image.state, rootOf(state), worldOf(state));
  core.reopenBoards();
  state.observation = image.observation.copy();
}

/** In this order: what the state of the script points to is there before it. */
const rootOf = (state: ScriptState): object => {
  const { process, files, core } = state;
  return { memory: process.memory, files, core, state };
};

/** What a rank finds rather than has. */
function worldOf({ process, core, files }: ScriptState): Map<string, object | null> {
  return new Map<string, object | null>([
    ["arena", process.memory.arena],
    ["transport", process.transport],
    ["nodes", core.nodeMap],
    // Of a node whose ranks do not fall together any more it may have none.
    ["boards", core.boards],
    ["errors are fatal", errorsAreFatal],
    ["errors abort", errorsAbort],
    ["errors return", errorsReturn],
    ["files", files.port],
    ["bytes", predefinedTypes.BYTE],
    ["element of bytes", predefinedTypes.BYTE.elements[0]!],
    ...Object.entries(exactReductions).map(([name, reduction]) => [`reduction ${name}`, reduction] as const),
  ]);
}
