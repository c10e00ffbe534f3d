/**
 * How a data plane tells a protocol which message a receive from any source took (core/ft/determinants): six words, before the program goes
 * on. Null in the place of a recorder: there is no protocol, and nothing is recorded.
 */
export interface PlaneRecorder {
  /** WebAssembly that appends six words, as `append6` of channel-ring.wat does; any answer but 0 is for `late`. */
  readonly append6: (a: number, b: number, c: number, d: number, e: number, f: number) => number;
  /** The receive of that number took that message, and the words of that are appended, or there was no room for them: waits until they are. */
  late(outcome: number, number: number, source: number, sequence: number): void;
}

type RecordImports = Record<"append6" | "late", unknown>;

const never = (): number => 0;

/** What plane.wat imports. */
export const recordImports = (recorder: PlaneRecorder | null): RecordImports =>
  recorder === null
    ? { append6: never, late: never }
    : {
        append6: recorder.append6,
        late: (outcome: number, number: number, source: number, sequence: number) =>
          recorder.late(outcome, number, source, sequence),
      };
