/** Datatypes: MPI 5.0 §5.1. Decoding them is in datatype-contents.ts, Fortran's own are in fortran-types.ts. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { darray, subarray } from "../../core/comm/datatype/datatype-arrays.ts";
import * as make from "../../core/comm/datatype/datatype-constructors.ts";
import { matchSize, valueIndex } from "../../core/comm/datatype/datatype-match.ts";
import { type Counts, largeCounts, smallCounts } from "../arguments/counts.ts";
import type { Call } from "../call-table.ts";
import { copyAttributes, deleteAttributes } from "../handles/attributes.ts";
import { isUnnamed, markLarge } from "../handles/datatype-envelopes.ts";
import { freeType } from "../handles/datatypes-in-use.ts";
import type { CDatatype } from "../handles/objects.ts";
import { DATATYPE_NULL, type Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";

/** The ABI's MPI_MAX_OBJECT_NAME. */
const nameBytes = 128;

type Count = number | bigint;

export function datatypeCalls(program: Program): Record<string, Call> {
  const { ints, types } = program;
  const [small, large] = [smallCounts(program), largeCounts(program)];
  const coreOf = (handle: number): Datatype => types.get(handle).core;

  function give(core: Datatype, out: number): number {
    ints[out >> 2] = program.addType(core);
    return 0;
  }

  /** Both forms of every constructor that has two. */
  function constructors(counts: Counts): Record<string, Call> {
    const { of, suffix } = counts;

    function made(core: Datatype, out: number): number {
      if (suffix === "_c") markLarge(core);
      return give(core, out);
    }
    function listOf(address: number, count: Count): number[] {
      make.checkWholeNumber("count", of(count));
      return counts.list(address, of(count));
    }
    function dimensions(list: (address: number, length: number) => number[], address: number, count: number): number[] {
      make.checkWholeNumber("number of dimensions", count);
      return list(address, count);
    }
    const blocks = (count: Count, lengths: number, displacements: number) => ({
      blocklengths: listOf(lengths, count),
      displacements: listOf(displacements, count),
    });
    const equalBlocks = (count: Count, length: Count, displacements: number) => ({
      blocklength: of(length),
      displacements: listOf(displacements, count),
    });
    const strides = (count: Count, length: Count, stride: Count) => ({
      count: of(count),
      blocklength: of(length),
      stride: of(stride),
    });

    return {
      [`MPI_Type_contiguous${suffix}`]: (count: Count, old: number, out: number) =>
        made(make.contiguous(of(count), coreOf(old)), out),
      [`MPI_Type_vector${suffix}`]: (count: Count, length: Count, stride: Count, old: number, out: number) =>
        made(make.vector(coreOf(old), strides(count, length, stride)), out),
      [`MPI_Type_create_hvector${suffix}`]: (count: Count, length: Count, stride: Count, old: number, out: number) =>
        made(make.hvector(coreOf(old), strides(count, length, stride)), out),
      [`MPI_Type_indexed${suffix}`]: (count: Count, lengths: number, at: number, old: number, out: number) =>
        made(make.indexed(coreOf(old), blocks(count, lengths, at)), out),
      [`MPI_Type_create_hindexed${suffix}`]: (count: Count, lengths: number, at: number, old: number, out: number) =>
        made(make.hindexed(coreOf(old), blocks(count, lengths, at)), out),
      [`MPI_Type_create_indexed_block${suffix}`]: (count: Count, length: Count, at: number, old: number, out: number) =>
        made(make.indexedBlock(coreOf(old), equalBlocks(count, length, at)), out),
      [`MPI_Type_create_hindexed_block${suffix}`]: (
        count: Count,
        length: Count,
        at: number,
        old: number,
        out: number,
      ) => made(make.hindexedBlock(coreOf(old), equalBlocks(count, length, at)), out),
      [`MPI_Type_create_struct${suffix}`]: (
        count: Count,
        lengths: number,
        at: number,
        handles: number,
        out: number,
      ) => {
        const shape = blocks(count, lengths, at);
        return made(make.struct({ ...shape, types: small.list(handles, of(count)).map(coreOf) }), out);
      },
      [`MPI_Type_create_resized${suffix}`]: (old: number, lb: Count, extent: Count, out: number) =>
        made(make.resized(coreOf(old), { lb: of(lb), extent: of(extent) }), out),
      [`MPI_Type_create_subarray${suffix}`]: (
        count: number,
        sizes: number,
        subsizes: number,
        starts: number,
        order: number,
        old: number,
        out: number,
      ) => {
        const [all, box, first] = [sizes, subsizes, starts].map((at) => dimensions(counts.list, at, count));
        return made(subarray(coreOf(old), { sizes: all!, subsizes: box!, starts: first!, order }), out);
      },
      [`MPI_Type_create_darray${suffix}`]: (
        size: number,
        rank: number,
        count: number,
        gsizes: number,
        distribs: number,
        dargs: number,
        psizes: number,
        order: number,
        old: number,
        out: number,
      ) => {
        const whole = dimensions(counts.list, gsizes, count);
        const [how, blockings, grid] = [distribs, dargs, psizes].map((at) => dimensions(small.list, at, count));
        const share = { gsizes: whole, distributions: how!, dargs: blockings!, psizes: grid! };
        return made(darray(coreOf(old), { size, rank, ...share, order }), out);
      },
    };
  }

  /** Both forms of the questions about lengths. */
  function lengths({ suffix, put }: Counts): Record<string, Call> {
    return {
      [`MPI_Type_size${suffix}`]: (handle: number, size: number) => {
        put(size, coreOf(handle).size);
        return 0;
      },
      [`MPI_Type_get_extent${suffix}`]: (handle: number, lb: number, extent: number) => {
        const core = coreOf(handle);
        put(lb, core.lb);
        put(extent, core.extent);
        return 0;
      },
      [`MPI_Type_get_true_extent${suffix}`]: (handle: number, lb: number, extent: number) => {
        const core = coreOf(handle);
        put(lb, core.trueLb);
        put(extent, core.trueExtent);
        return 0;
      },
    };
  }

  return {
    ...constructors(small),
    ...constructors(large),
    ...lengths(small),
    ...lengths(large),

    MPI_Type_dup(handle: number, out: number): number {
      const type = types.get(handle);
      const copy = types.get(program.addType(make.dup(type.core)));
      return copyAttributes(program, type, copy, new Duplicated(copy, out));
    },
    MPI_Type_commit(handleAt: number): number {
      coreOf(ints[handleAt >> 2]!).commit();
      return 0;
    },
    MPI_Type_free(handleAt: number): number {
      const handle = ints[handleAt >> 2]!;
      const type = types.get(handle);
      if (type.core.isPredefined || isUnnamed(type.core)) {
        throw new MpiError(ErrorClass.TYPE, `Cannot free ${type.name || "the datatype"}: it is predefined`);
      }
      return deleteAttributes(program, type, new Freed(type, handleAt));
    },

    MPI_Type_get_name(handle: number, text: number, length: number): number {
      ints[length >> 2] = program.putText(text, types.get(handle).name, nameBytes);
      return 0;
    },
    MPI_Type_set_name(handle: number, text: number): number {
      const type = types.get(handle);
      type.name = program.text(text);
      // Predefined types are shared by all programs of the thread.
      if (!type.core.isPredefined) type.core.name = type.name;
      return 0;
    },
    MPI_Type_match_size(typeClass: number, bytes: number, out: number): number {
      ints[out >> 2] = matchSize(typeClass, bytes).handle;
      return 0;
    },
    MPI_Type_get_value_index(value: number, index: number, out: number): number {
      ints[out >> 2] = valueIndex(coreOf(value), coreOf(index))?.handle ?? DATATYPE_NULL;
      return 0;
    },
    MPI_Get_address(location: number, out: number): number {
      ints[out >> 2] = location;
      return 0;
    },
  };
}

/** The attributes of a copy are there, or could not be copied: then there is no copy. */
class Duplicated implements Continuation {
  private readonly copy: CDatatype;
  private readonly out: number;

  constructor(copy: CDatatype, out: number) {
    this.copy = copy;
    this.out = out;
  }

  resume({ ints, types }: Program, code: number): number {
    if (code !== ErrorClass.SUCCESS) {
      types.remove(this.copy.handle);
      ints[this.out >> 2] = DATATYPE_NULL;
      throw new MpiError(code, `Cannot copy the datatype: the copy function of an attribute gave error ${code}`);
    }
    ints[this.out >> 2] = this.copy.handle;
    return 0;
  }
}

/** The attributes of a type are gone, or one of them stays: then so does the type. */
class Freed implements Continuation {
  private readonly type: CDatatype;
  private readonly handleAt: number;

  constructor(type: CDatatype, handleAt: number) {
    this.type = type;
    this.handleAt = handleAt;
  }

  resume(program: Program, code: number): number {
    if (code !== ErrorClass.SUCCESS) {
      throw new MpiError(code, `Cannot free the datatype: the delete function of an attribute gave error ${code}`);
    }
    freeType(program, this.type);
    program.ints[this.handleAt >> 2] = DATATYPE_NULL;
    return 0;
  }
}

saves({ Duplicated, Freed });
