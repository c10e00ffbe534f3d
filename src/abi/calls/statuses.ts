/** What a status says: MPI 5.0 §3.2.5, §5.1.11 and §13.3. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { checkCount } from "../../core/binding/checks.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { elementBytes, elementCount, itemCount } from "../../core/comm/datatype/datatype-elements.ts";
import { type Counts, countMax, largeCounts, smallCounts } from "../arguments/counts.ts";
import { S_BYTES, S_CANCELLED, S_ERROR, S_SOURCE, S_TAG, statusBytes } from "../arguments/status.ts";
import type { Call } from "../call-table.ts";
import type { Program } from "../program.ts";

/** Bytes are a word and, above the lowest bit of the next one, the rest: more than a message has, a program may set. */
const wordValues = 2n ** 32n;

function bytesOf({ ints }: Program, status: number): bigint {
  const at = status >> 2;
  return BigInt(ints[at + S_BYTES]! >>> 0) + BigInt(ints[at + S_CANCELLED]! >>> 1) * wordValues;
}

function putBytes({ ints }: Program, status: number, bytes: bigint): void {
  const at = status >> 2;
  ints[at + S_BYTES] = Number(bytes % wordValues) | 0;
  ints[at + S_CANCELLED] = (ints[at + S_CANCELLED]! & 1) | (Number(bytes / wordValues) << 1);
}

/** In a multiple of a type's bytes there is the same multiple of its items and of its elements: the rest is counted small. */
function countIn(type: Datatype, bytes: bigint, perItem: number, count: typeof itemCount): bigint | number {
  if (type.size === 0) return count(type, bytes === 0n ? 0 : 1);
  const size = BigInt(type.size);
  const rest = count(type, Number(bytes % size));
  return rest === UNDEFINED ? UNDEFINED : (bytes / size) * BigInt(perItem) + BigInt(rest);
}

function bytesOfElements(type: Datatype, elements: bigint): bigint {
  if (type.size === 0) return 0n;
  const perItem = BigInt(type.signature.elements);
  return (elements / perItem) * BigInt(type.size) + BigInt(elementBytes(type, Number(elements % perItem)));
}

export function statusCalls(program: Program): Record<string, Call> {
  const { bytes, ints, types } = program;

  function forms({ suffix, put }: Counts): Record<string, Call> {
    return {
      [`MPI_Get_count${suffix}`]: (status: number, handle: number, count: number) => {
        put(count, countIn(types.get(handle).core, bytesOf(program, status), 1, itemCount));
        return 0;
      },
      [`MPI_Get_elements${suffix}`]: (status: number, handle: number, count: number) => {
        const { core } = types.get(handle);
        put(count, countIn(core, bytesOf(program, status), core.signature.elements, elementCount));
        return 0;
      },
      [`MPI_Status_set_elements${suffix}`]: (status: number, handle: number, count: number | bigint) => {
        checkCount(Number(count));
        const bytes = bytesOfElements(types.get(handle).core, BigInt(count));
        if (bytes > countMax) {
          const state = `they have ${bytes} bytes, and no count is larger than 2^63 - 1`;
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
