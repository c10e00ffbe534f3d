import type { Checker } from "./checker.ts";

/** Every byte is the byte that was sent: nothing torn, swapped or written to the wrong place. */
export const contentsRight: Checker = {
  name: "contents are right",
  check: ({ observation }) =>
    observation.receipts
      .filter(({ wrongByte }) => wrongByte >= 0)
      .map(({ receive, message, wrongByte }) => `receive ${receive} of message ${message}: byte ${wrongByte} is wrong`),
};
