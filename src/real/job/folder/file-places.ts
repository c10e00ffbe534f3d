/** Which files of a job its nodes may ask the dispatcher for, and which they may give it, and where these are. */
import { join } from "node:path";
import { unreachable } from "../../../core/base/assert.ts";
import { type FileRequest, folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";

/** Folders; empty: the job has no such files. */
interface FilePlacesOptions {
  /** The job's own program, and those that it has spawned. */
  readonly program: string;
  readonly spawned: string;
  readonly traces: string;
  readonly checkpoints: string;
  readonly freezeTo: string;
  readonly thawFrom: string;
}

/** Null: refused. */
export function filePlaces(options: FilePlacesOptions): (request: FileRequest) => string | null {
  const { program, spawned, traces, checkpoints, freezeTo, thawFrom } = options;
  const inside = (folder: string, place: (folder: string) => string): string | null =>
    folder === "" ? null : place(folder);
  return ({ want, file }) => {
    switch (file.kind) {
      case "program":
        if (want !== "fetch") return null;
        return inside(file.name.includes("-") ? spawned : program, (folder) => join(folder, file.name));
      case "trace":
        return want === "append" ? inside(traces, (folder) => join(folder, `${file.rank}.trace`)) : null;
      case "frozen":
        if (want === "append") return null;
        return inside(want === "store" ? freezeTo : thawFrom, (folder) => imagePath(folder, file.rank));
      case "checkpoint": {
        const { set, number, rank } = file;
        if (want === "append") return null;
        return inside(checkpoints, (folder) => imagePath(folderOfCheckpoint(folder, set, number), rank));
      }
      default:
        return unreachable(file);
    }
  };
}
