/** For a process that has no data plane. */
import type { PassedCalls } from "../protocol.ts";

export const newNoPass = (): PassedCalls => ({
  isUsed: false,
  close() {},
  numbered: 0,
  adopting: 0,
  takeRecorded: () => 0,
  met: 0,
});
