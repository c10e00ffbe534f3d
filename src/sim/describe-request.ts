/** A request in words, for reports: `receive from any rank, tag 7, context 2, up to 64 bytes (posted)`. */
import type { RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../core/base/constants.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_KIND,
  R_PEER,
  R_STATE,
  R_TAG,
  RecordKind,
  RecordState,
  type Records,
} from "../core/request/records.ts";

export function describeRequest(records: Records, request: RecordId): string {
  const peer = records.get(request, R_PEER);
  const tag = records.get(request, R_TAG);
  const bytes = records.get(request, R_BYTES);
  const which = `tag ${tag === ANY_TAG ? "any" : tag}, context ${records.get(request, R_CONTEXT)}`;
  const state = records.get(request, R_STATE);
  switch (records.get(request, R_KIND)) {
    case RecordKind.SEND:
      return `send to rank ${peer}, ${which}, ${bytes} bytes (${state === RecordState.PENDING ? "waits for room" : "envelope has left"})`;
    case RecordKind.RECEIVE: {
      const from = peer === ANY_SOURCE ? "any rank" : `rank ${peer}`;
      return `receive from ${from}, ${which}, up to ${bytes} bytes (${state === RecordState.PENDING ? "posted" : "matched"})`;
    }
    case RecordKind.OPERATION:
      return "a collective or another operation of several steps";
    default:
      return `record ${request}`;
  }
}
