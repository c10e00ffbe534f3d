/** What a status says: MPI 5.0 §3.2.5, §5.1.11 and §13.3. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { elementBytes, elementCount, itemCount } from "../../core/comm/datatype-elements.ts";
import type { Call } from "../binding.ts";
import { checkCount } from "../buffers.ts";
import { type Counts, largeCounts, smallCounts } from "../counts.ts";
import type { Program } from "../program.ts";
import { S_BYTES, S_CANCELLED, S_ERROR, S_SOURCE, S_TAG, statusBytes } from "../status.ts";

/** Bytes are a word and, above the lowest bit of the next one, the rest: more than a message has, a program may set. */
const wordValues = 2 ** 32;

function bytesOf({ ints }: Program, status: number): number {
  const at = status >> 2;
  return (ints[at + S_BYTES]! >>> 0) + (ints[at + S_CANCELLED]! >>> 1) * wordValues;
}

function putBytes({ ints }: Program, status: number, bytes: number): void {
  const at = status >> 2;
  ints[at + S_BYTES] = bytes % wordValues;
  ints[at + S_CANCELLED] = (ints[at + S_CANCELLED]! & 1) | (Math.floor(bytes / wordValues) << 1);
}

export function statusCalls(program: Program): Record<string, Call> {
  const { bytes, ints, types } = program;

  function forms({ suffix, of, put }: Counts): Record<string, Call> {
    return {
      [`MPI_Get_count${suffix}`]: (status: number, handle: number, count: number) => {
        put(count, itemCount(types.get(handle).core, bytesOf(program, status)));
        return 0;
      },
      [`MPI_Get_elements${suffix}`]: (status: number, handle: number, count: number) => {
        put(count, elementCount(types.get(handle).core, bytesOf(program, status)));
        return 0;
      },
      [`MPI_Status_set_elements${suffix}`]: (status: number, handle: number, count: number | bigint) => {
        checkCount(of(count));
        const bytes = elementBytes(types.get(handle).core, of(count));
        if (!Number.isSafeInteger(bytes)) {
          const state = `they have ${bytes} bytes, and statuses hold up to 2^53`;
          throw new MpiError(ErrorClass.COUNT, `Cannot set ${count} elements: ${state}`);
        }
        putBytes(program, status, bytes);
        return 0;
      },
    };
  }

  const get = (word: number) => (status: number, out: number) => {
    ints[out >> 2] = ints[(status >> 2) + word]!;
    return 0;
  };
  const set = (word: number) => (status: number, value: number) => {
    ints[(status >> 2) + word] = value;
    return 0;
  };
  /** A Fortran status is the same eight words. */
  const copy = (from: number, to: number) => {
    bytes.copyWithin(to, from, from + statusBytes);
    return 0;
  };

  return {
    ...forms(smallCounts(program)),
    ...forms(largeCounts(program)),
    MPI_Status_get_source: get(S_SOURCE),
    MPI_Status_get_tag: get(S_TAG),
    MPI_Status_get_error: get(S_ERROR),
    MPI_Status_set_source: set(S_SOURCE),
    MPI_Status_set_tag: set(S_TAG),
    MPI_Status_set_error: set(S_ERROR),
    MPI_Status_c2f: copy,
    MPI_Status_f2c: copy,
    MPI_Status_c2f08: copy,
    MPI_Status_f082c: copy,
    MPI_Status_f2f08: copy,
    MPI_Status_f082f: copy,
  };
}
