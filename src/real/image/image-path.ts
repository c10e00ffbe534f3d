/** Where the image of a rank is in a folder of images. */
import { join } from "node:path";

export const imagePath = (folder: string, rank: number): string => join(folder, `${rank}.image`);
