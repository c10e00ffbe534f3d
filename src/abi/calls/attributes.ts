/** Attributes and their keyvals: MPI 5.0 §7.7, and those of the standard itself on communicators (§9.1.2). */
import type { Pointer } from "../../core/base/brand.ts";
import { ANY_SOURCE, PROC_NULL, TAG_UB } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { AttributeOwner } from "../../core/comm/attributes.ts";
import { type Bearer, type CKeyval, deleteAttribute, notDeleted } from "../handles/attributes.ts";
import type { ErrorSubject } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";

const KEYVAL_INVALID = 0;

/** The standard's own keyvals. They lie side by side, and so do the cells that a program gets the address of. */
const firstPredefined = 501;

/** Their values, in the order of their numbers. */
function predefinedValues({ host, errorCodes }: Program): readonly number[] {
  return [
    TAG_UB,
    // MPI_IO: every rank can read and write.
    ANY_SOURCE,
    // MPI_HOST: no rank is special.
    PROC_NULL,
    // MPI_WTIME_IS_GLOBAL
    0,
    // MPI_APPNUM: which command of a spawn; the job's own ranks run one program.
    host.spawner.origin?.command ?? 0,
    errorCodes.lastUsed,
    // MPI_UNIVERSE_SIZE
    host.spawner.universe,
    // MPI_FT
    host.survivesDeaths ? 1 : 0,
  ];
}

const standardCount = 7;
/** ULFM's key, in the place behind the standard's. */
const FT = 590;
const isStandard = (keyval: number): boolean => keyval >= firstPredefined && keyval < firstPredefined + standardCount;
const isPredefined = (keyval: number): boolean => isStandard(keyval) || keyval === FT;
const placeOf = (keyval: number): number => (keyval === FT ? standardCount : keyval - firstPredefined);

export function attributeCalls(program: Program) {
  const { ints, keyvals, memory } = program;
  /** Where the standard's own values are; 0: nobody has asked yet. */
  let cells = 0 as Pointer;

  /** The address of one of the standard's values, which are the same on every communicator. */
  function predefined(keyval: number): number {
    if (cells === 0) cells = memory.allocate(4 * (standardCount + 1));
    program.putList(cells, predefinedValues(program));
    return cells + 4 * placeOf(keyval);
  }

  /** A keyval that was freed can still be used where an attribute has it. */
  function keyvalOf(owner: AttributeOwner, { attributes }: Bearer, number: number): CKeyval {
    return attributes.list().find(({ keyval }) => keyval.number === number)?.keyval ?? keyvals.find(number, owner);
  }

  function get(owner: AttributeOwner, bearer: Bearer, number: number, valueOut: number, flag: number): number {
    const attribute = bearer.attributes.get(keyvalOf(owner, bearer, number));
    ints[flag >> 2] = attribute === undefined ? 0 : 1;
    if (attribute !== undefined) ints[valueOut >> 2] = attribute.value as number;
    return 0;
  }

  function set(owner: AttributeOwner, bearer: Bearer, number: number, value: number): number {
    const keyval = keyvalOf(owner, bearer, number);
    const then = new Replaced(bearer, keyval, value, program.owner);
    if (bearer.attributes.get(keyval) === undefined) return then.resume(program, ErrorClass.SUCCESS);
    return deleteAttribute(program, bearer, keyval, then);
  }

  function drop(owner: AttributeOwner, bearer: Bearer, number: number): number {
    const keyval = keyvalOf(owner, bearer, number);
    if (bearer.attributes.get(keyval) === undefined) {
      throw new MpiError(ErrorClass.KEYVAL, `Cannot delete the attribute of keyval ${number}: it is not set`);
    }
    return deleteAttribute(program, bearer, keyval, new Gone(program.owner));
  }

  function createKeyval(owner: AttributeOwner) {
    return (copy: number, deletion: number, out: number, extraState: number): number => {
      ints[out >> 2] = keyvals.create(owner, { copy, delete: deletion, extraState }).number;
      return 0;
    };
  }

  /** Does an attribute of the program's have it? Those of predefined datatypes are not looked at. */
  function isInUse(number: number, owner: AttributeOwner): boolean {
    const bearers = [program.world, program.self, ...program.communicators.list(), ...program.types.list()];
    const keys = bearers.flatMap(({ attributes }) => attributes.list().map(({ keyval }) => keyval));
    return keys.some((keyval) => keyval.number === number && keyval.owner === owner);
  }

  /** One that is in use may be freed, by its delete function too, and again while it is still in use. */
  function freeKeyval(owner: AttributeOwner) {
    return (numberAt: number): number => {
      const number = ints[numberAt >> 2]!;
      try {
        keyvals.free(number, owner);
      } catch (error) {
        if (!isInUse(number, owner)) throw error;
      }
      ints[numberAt >> 2] = KEYVAL_INVALID;
      return 0;
    };
  }

  return {
    MPI_Comm_create_keyval: createKeyval("communicator"),
    MPI_Comm_free_keyval: freeKeyval("communicator"),
    MPI_Comm_set_attr: (handle: number, keyval: number, value: number): number =>
      set("communicator", program.comm(handle), keyval, value),
    MPI_Comm_get_attr(handle: number, keyval: number, valueOut: number, flag: number): number {
      const comm = program.comm(handle);
      if (!isPredefined(keyval)) return get("communicator", comm, keyval, valueOut, flag);
      ints[valueOut >> 2] = predefined(keyval);
      ints[flag >> 2] = 1;
      return 0;
    },
    MPI_Comm_delete_attr: (handle: number, keyval: number): number =>
      drop("communicator", program.comm(handle), keyval),

    MPI_Type_create_keyval: createKeyval("datatype"),
    MPI_Type_free_keyval: freeKeyval("datatype"),
    MPI_Type_set_attr: (handle: number, keyval: number, value: number): number =>
      set("datatype", program.types.get(handle), keyval, value),
    MPI_Type_get_attr: (handle: number, keyval: number, valueOut: number, flag: number): number =>
      get("datatype", program.types.get(handle), keyval, valueOut, flag),
    MPI_Type_delete_attr: (handle: number, keyval: number): number =>
      drop("datatype", program.types.get(handle), keyval),

    MPI_Win_create_keyval: createKeyval("window"),
    MPI_Win_free_keyval: freeKeyval("window"),
  };
}

/** The old value of an attribute is gone: the new one takes its place. */
class Replaced implements Continuation {
  private readonly bearer: Bearer;
  private readonly keyval: CKeyval;
  private readonly value: number;
  private readonly owner: ErrorSubject;

  constructor(bearer: Bearer, keyval: CKeyval, value: number, owner: ErrorSubject) {
    this.bearer = bearer;
    this.keyval = keyval;
    this.value = value;
    this.owner = owner;
  }

  resume(program: Program, code: number): number {
    program.owner = this.owner;
    if (code !== ErrorClass.SUCCESS) throw notDeleted(code);
    this.bearer.attributes.put(this.keyval, this.value);
    return 0;
  }
}

class Gone implements Continuation {
  private readonly owner: ErrorSubject;

  constructor(owner: ErrorSubject) {
    this.owner = owner;
  }

  resume(program: Program, code: number): number {
    program.owner = this.owner;
    if (code !== ErrorClass.SUCCESS) throw notDeleted(code);
    return 0;
  }
}

saves({ Replaced, Gone });
