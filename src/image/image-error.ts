/**
 * An image that cannot be written or read. One line in Banyan's grammar, without the name of the file, which this folder does
 * not know: `real/image` adds it in front.
 */
export class ImageError extends Error {
  override readonly name = "ImageError";
}
