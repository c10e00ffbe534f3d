/** Has some receive of a process a part of a message from another set, and not all of it? */
import { R_KIND, R_OFFSET, R_PEER, R_STATE, RecordKind, RecordState, recordWords } from "../../core/request/records.ts";
import type { SimProcess } from "../sim-process.ts";

export function hasHalf({ rank, engine }: Pick<SimProcess, "rank" | "engine">, setOf: readonly number[]): boolean {
  const { words } = engine.records;
  for (let at = 0; at < words.length; at += recordWords) {
    const isReceiving = words[at + R_KIND] === RecordKind.RECEIVE && words[at + R_STATE] === RecordState.ACTIVE;
    if (isReceiving && words[at + R_OFFSET]! > 0 && setOf[words[at + R_PEER]!] !== setOf[rank]) return true;
  }
  return false;
}
