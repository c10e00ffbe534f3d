/** MPI_File_set_view (MPI 5.0 §14.3): both pointers begin anew, when every member has come here. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pieceOrder } from "../../core/comm/datatype/piece-order.ts";
import { forEachTotal } from "../../core/comm/datatype/signature.ts";
import type { CFile } from "./file.ts";
import { FileTask } from "./file-task.ts";
import type { FileUser } from "./file-user.ts";
import { Mode } from "./mode.ts";
import { isFirst, setShared, sharedPosition } from "./shared-pointer.ts";
import { byteOfEtype, type Representation, representations, type View } from "./view.ts";

/** MPI_DISPLACEMENT_CURRENT: where the shared pointer is. */
const displacementCurrent = -1;

export class SetView extends FileTask {
  private readonly view: Omit<View, "representation"> & { readonly representation: string };
  private current = 0;

  /** The representation is any name that the program gave. */
  constructor(
    program: FileUser,
    file: CFile,
    view: Omit<View, "representation"> & { readonly representation: string },
  ) {
    super(program, file);
    this.view = view;
  }

  protected override act(step: number): readonly number[] | null {
    const { program, file, view } = this;
    const isCurrent = view.displacement === displacementCurrent;
    switch (step) {
      case 0:
        this.check();
        return [view.etype.extent, isCurrent ? 1 : 0];
      case 1:
        if (!isCurrent) this.apply(view.displacement);
        return [isCurrent && isFirst(file) ? byteOfEtype(file.view, sharedPosition(program, file)) : 0];
      case 2:
        if (!isCurrent) return null;
        this.apply(this.current);
        return [];
      default:
        return null;
    }
  }

  protected override numberCount(step: number): number {
    return Math.max(0, 2 - step);
  }

  protected override heard(step: number, numbers: readonly (readonly number[])[]): void {
    const [first] = numbers;
    if (step === 1) this.current = first![0]!;
    if (step !== 0 || numbers.every(([extent, isCurrent]) => extent === first![0] && isCurrent === first![1])) return;
    this.refuse(ErrorClass.NOT_SAME, "the extent of the etype is not the same everywhere, or the displacement");
  }

  private apply(displacement: number): void {
    const { etype, filetype, representation } = this.view;
    this.file.view = { displacement, etype, filetype, representation: representation as Representation };
    this.file.position = 0;
    setShared(this.program, this.file, 0);
  }

  private check(): void {
    const { displacement, etype, filetype, representation } = this.view;
    if ((displacement === displacementCurrent) !== this.file.is(Mode.SEQUENTIAL)) {
      this.refuse(
        ErrorClass.DISP,
        "MPI_DISPLACEMENT_CURRENT goes with MPI_MODE_SEQUENTIAL, and that with nothing else",
      );
    }
    if (displacement < 0 && displacement !== displacementCurrent) {
      this.refuse(ErrorClass.DISP, `the displacement is ${displacement}, and files begin at 0`);
    }
    if (!representations.includes(representation as Representation)) {
      const known = representations.join(", ");
      this.refuse(ErrorClass.UNSUPPORTED_DATAREP, `there is no representation "${representation}", only ${known}`);
    }
    if (etype.size === 0) this.refuse(ErrorClass.ARG, "the etype has no data");
    if (filetype.size % etype.size !== 0) {
      const state = `the file type has ${filetype.size} bytes of data, and the etype ${etype.size}`;
      this.refuse(ErrorClass.ARG, `${state}: it must be made of whole etypes`);
    }
    this.checkOrder("etype", etype);
    if (filetype.size > 0) this.checkOrder("file type", filetype);
    if (representation === "external32" && !(keepsSizes(etype) && keepsSizes(filetype))) {
      this.refuse(ErrorClass.UNSUPPORTED_DATAREP, "its types have elements of another size in external32");
    }
  }

  private checkOrder(what: string, { layout, trueLb }: Datatype): void {
    const { ascends, isDisjoint } = pieceOrder(layout);
    if (trueLb < 0) this.refuse(ErrorClass.IO, `the ${what} begins at ${trueLb}, and displacements are from 0`);
    if (!ascends) this.refuse(ErrorClass.IO, `displacements of the ${what} go back, and they must ascend`);
    if (isDisjoint || this.file.is(Mode.RDONLY)) return;
    this.refuse(ErrorClass.IO, `parts of the ${what} overlap, which only files for reading may have`);
  }

  private refuse(errorClass: number, why: string): never {
    throw new MpiError(errorClass, `Cannot set the view of ${this.file.title}: ${why}`);
  }
}

/** Are all elements in external32 as long as they are here? Only then do datatypes say where they lie in the file. */
export function keepsSizes({ signature }: Datatype): boolean {
  let keeps = true;
  forEachTotal(signature, ({ unitBytes, externalUnitBytes }) => {
    keeps &&= unitBytes === externalUnitBytes;
  });
  return keeps;
}

saves({ SetView });
