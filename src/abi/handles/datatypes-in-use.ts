/**
 * Datatypes whose handle one of the program's operations gets: the handle means the type until the reduction has ended, also
 * when the program has freed it meanwhile, as it may (MPI 5.0 §5.1.9).
 */
import { saves } from "../../core/base/saved-classes.ts";
import type { Program } from "../program.ts";
import type { After, CDatatype } from "./objects.ts";

/** The type's handle; a new one for a type of a persistent reduction whose own is gone. `LetGo` ends it. */
export function holdType({ types }: Program, type: CDatatype): number {
  if (types.find(type.handle) !== type) {
    type.handle = types.add(type);
    type.isFreed = true;
  }
  type.uses++;
  return type.handle;
}

/** The program frees a type: its handle goes now, or with its last use. */
export function freeType({ types }: Program, type: CDatatype): void {
  if (type.uses === 0) types.remove(type.handle);
  else type.isFreed = true;
}

/** What is left to do after a reduction, then the handle of its type. */
export class LetGo implements After {
  private readonly type: CDatatype;
  private readonly next: After;

  constructor(type: CDatatype, next: After) {
    this.type = type;
    this.next = next;
  }

  finish(program: Program, bytes: number, error: number): void {
    this.next.finish(program, bytes, error);
    this.type.uses--;
    if (this.type.uses === 0 && this.type.isFreed) program.types.remove(this.type.handle);
  }
}

saves({ LetGo });
