/** The text that a rank prints: the number of the piece, and the rank's history at that point. */
interface PrintedPiece {
  readonly rank: number;
  /** Index among the rank's pieces, from 0. */
  readonly piece: number;
  readonly history: number;
}

export const pieceText = ({ rank, piece, history }: PrintedPiece, endsLine: boolean): string =>
  `[rank ${rank} piece ${piece} history ${history.toString(16)}]${endsLine ? "\n" : ""}`;
